// Package probe asks containers whether they have started, are ready and are alive.
//
// A Prober is told about a pod at every sync and keeps one schedule per probe and container, as a timer; a goroutine
// exists only while a question is being asked. Results are kept by container id, so a restarted container begins
// anew. When a result changes, after as many answers in a row as the probe's thresholds say, the pod is synced.
//
//	prober := probe.New(probe.Options{Runtime: services, Dial: dialer.DialContext, Clock: clock, Record: record, Changed: pool.Trigger})
//	prober.Update(ctx, pod, observed)
//	results := prober.Results(containerID)
//
// Upstream's rules hold (pkg/kubelet/prober): no liveness or readiness probe before the startup probe succeeded, no
// startup probe after it; a container that failed its liveness probe is not asked again. One thing is added: a
// container that has just started is asked more often at first whether it is ready.
package probe
