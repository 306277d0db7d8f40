// Package podroutes makes pods reachable across nodes without any tunnel: for each other node a route to that
// node's range of pods, by way of the node's address. On a node itself it also writes the CNI configuration, as soon
// as the Node has its range (spec.podCIDR): from then on the runtime reports that its network is ready.
//
// Routes of ours bear a protocol number of their own, so that what others put into the routing table is never
// touched, and what a run before left is found again.
//
//	p, err := podroutes.New(podroutes.Options{Config: config, NodeName: "dev-1", ConfigDir: "/etc/cni/net.d", Logger: logger})
//	err = p.Run(ctx)
package podroutes
