// Package runtime is the kubelet's side of the Container Runtime Interface.
//
// It promises three things. What it reads it turns into plain facts (Pod, Sandbox, Container), newest first, that
// planners and status writers use without knowing gRPC. What it sends it derives from a pod by pure functions
// (SandboxConfig, ContainerConfig), so that a table can test them. And it remembers nothing: all that a restarted
// kubelet must know (pod, uid, attempt, hash, restart count, grace period, hooks) stands in labels and annotations
// of sandboxes and containers, under upstream's names. All methods may be called from many goroutines.
//
//	client := runtime.New(criRuntime, criImages)
//	observed, err := client.Pod(ctx, pod.UID)
//	id, err := client.RunSandbox(ctx, runtime.SandboxConfig(pod, settings), handler)
//	err = client.StartContainer(ctx, containerID)
//	err = client.Events(ctx, func(uid types.UID) { worker.Trigger(uid) })
//
// Next: kubelet/status
package runtime
