// Package node keeps the Node object of a kubelet: it registers the node, renews its lease, and writes its status.
//
// An Agent is one loop. The status is a pure function (Status) of the machine, the runtime's state and the Node as
// it is; it is looked at every 10 s and when Touch is called, and written when it changed, or every 5 min. What
// others put into the Node (labels, extended resources) stays: the Agent only patches what it owns. The lease is
// renewed every 10 s, so that the control plane sees the kubelet alive without a large object being written.
//
//	agent := node.New(node.Options{Nodes: core.Nodes(), Leases: leases, Name: "node-1", Address: ip, …})
//	go agent.Run(ctx)
//	current := agent.Node() // as last seen; nil before registration
package node
