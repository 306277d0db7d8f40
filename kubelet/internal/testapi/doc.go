// Package testapi is as much of an API server as a kubelet speaks to, in memory, for its tests.
//
// It keeps pods, nodes, leases, events, ConfigMaps, Secrets, Services and makes tokens of service accounts; it lists,
// watches, patches, and deletes pods gracefully as a real one does. It checks nothing.
//
//	api := testapi.New(t)
//	pod := api.Create(ctx, &v1.Pod{…})
//	kubelet.New(kubelet.Options{Config: api.Config(), …})
//	api.EventuallyPod(ctx, pod, func(pod *v1.Pod) bool { return pod.Status.Phase == v1.PodRunning })
package testapi
