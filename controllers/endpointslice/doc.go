// Package endpointslice lists the pods behind each Service in EndpointSlices, which the
// proxy of every node turns into rules.
//
// Decide is the pure part. It changes as few slices as it can, since each change goes to
// every node: endpoints that stay keep their slice; new ones fill up slices that change
// anyway, then the one that they fill best, and only then a new slice.
//
// Promises: at most 100 endpoints a slice; one group of slices for each address family
// and set of ports (pods may have different numbers for one name); a Service without
// endpoints has one empty slice; slices that others made are left alone, and so are
// Services without a selector.
//
//	plan := endpointslice.Decide(endpointslice.Observed{Service: s, Pods: pods, Nodes: nodes, Slices: slices})
//	// plan.Create, plan.Update, plan.Delete
//
// Next: proxy.
package endpointslice
