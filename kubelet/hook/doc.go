// Package hook runs what a container wants done after it started and before it is stopped.
//
// A Runner runs one handler (a command in the container, a GET to it, or a pause) and returns when it is done, when
// it failed, or when the context ends. It decides nothing: who calls it knows whether a failure matters.
//
//	runner := hook.Runner{Runtime: services, Dial: dialer.DialContext, Clock: clock}
//	err := runner.Run(ctx, hook.Call{Pod: pod, Container: container, ContainerID: id, PodIP: ip}, container.Lifecycle.PreStop)
package hook
