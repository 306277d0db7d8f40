// Package kubelet runs the pods of one node.
//
// A Kubelet watches the pods that are assigned to its node and brings the container runtime to what they say. Each
// pod is synced by one worker at a time (podworker): observe the pod in the runtime, write its status, plan, apply a
// step, and again, until nothing is left to do. Whatever changes, in the API, in the runtime, or by the passing of
// time, only triggers that sync; it never carries a decision. The kubelet keeps no state that it could lose: after a
// restart it reads from the runtime's labels what it needs, and running containers don't notice.
//
// Everything outside is a parameter: the runtime, the source of pods, the clock, folders, the listener. A simulated
// node is the same kubelet with a runtime in memory (runtime/simulated) and without folders; thousands of them can
// share one process, since nothing here is global.
//
//	k, err := kubelet.New(kubelet.Options{NodeName: "node-1", Config: config, Runtime: services, Images: images, NodeIP: ip})
//	if err != nil { … }
//	err = k.Run(ctx) // blocks until ctx ends; containers go on running
//
// Next: kubelet/podworker
package kubelet
