// Package plan decides what to do about a pod.
//
// Compute is a pure function: from the pod as the API has it and the pod as the runtime has it, it derives what
// must be created, started and stopped next. It has no client, no clock, no goroutine and no memory; the caller
// applies what it can of the Plan and computes again when anything changed. So each step is small: an init
// container is started, and the next one only appears in a Plan that is computed after the first has ended.
//
//	p := plan.Compute(plan.Input{Pod: pod, Observed: observed, Probes: probes})
//	if p.KillPod { … }
//	if p.CreateSandbox { … }
//	for _, start := range p.Start { … }
//
// The rules are those of upstream's computePodActions (pkg/kubelet/kuberuntime).
//
// Next: kubelet/runtime
package plan
