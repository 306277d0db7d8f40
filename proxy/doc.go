// Package proxy makes Services work on a node: it turns Services and their EndpointSlices into one nftables table,
// "ip kogge". Where a packet to a Service's address goes is one lookup in a map, whatever the number of Services;
// a change is one transaction, so that no packet ever meets half of it.
//
//	           nat                               filter                         nat
//	packet ─► prerouting ─► services ─► (dnat) ─► input, forward ─► refusals ─► postrouting ─► (masquerade)
//	process ► output ─────► services ─► (dnat) ─► output ─────────► refusals ─► postrouting ─► (masquerade)
//
//	services    (address, protocol, port) → the chain of a Service port; (protocol, port) → that of a node port
//	cluster-…   picks among the endpoints that may be used; local-… among those on this node
//	external-…  for traffic that comes from outside the cluster: its policy, and masquerading
//	refusals    what is still on its way to a Service here has no endpoint: rejected, or dropped where a policy
//	            says that only another node could have answered
//
// Masquerading is for replies that would not come back this way: from outside the pods' range (which only the
// node itself is), through a node port, and for a pod that reaches itself through its Service (hairpin).
//
// Session affinity is a set of clients for each endpoint, which the kernel fills by itself and which outlives the
// proxy. The decisions stand in plan.go, the text of rules in render.go, and the shell around them in proxy.go. Hints
// about zones are not looked at; LoadBalancer addresses come with the controller that hands them out.
//
//	p, err := proxy.New(proxy.Options{Config: config, NodeName: "dev-1", ClusterCIDR: pods, Logger: logger})
//	err = p.Run(ctx)
package proxy
