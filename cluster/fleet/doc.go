// Package fleet runs simulated nodes by the thousand in one process.
//
// Each node is the kubelet of real nodes on a runtime in memory (kubelet/runtime/simulated), under its own identity.
// What would be dear a thousand times is there once: the watch of pods, the sender of events, the workers that send
// heartbeats, the server that answers for all kubelets. Nodes have addresses of a range that exists nowhere, so
// nothing listens: the API server reaches a kubelet through Dial, in memory, over TLS with a certificate that is made
// when it is first asked for.
//
//	f, err := fleet.New(fleet.Options{Config: config, CA: ca, Template: fleet.NodeTemplate{Zones: []string{"a", "b"}}})
//	go f.Run(ctx)
//	err = f.Scale(ctx, 5000)
//
// Next: cluster
package fleet
