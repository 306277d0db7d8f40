// Package daemonset runs one pod of a template on every node that it fits.
//
// Decide is the pure part: fit.go says which nodes, plan.go which pods to make and delete
// there, rolling.go how an update goes from node to node within maxUnavailable and
// maxSurge. history.go keeps the template's earlier versions as ControllerRevisions.
//
// Promises: a pod is bound to its node by the scheduler (by an affinity to the node's
// name), never by this controller; a pod that fails again and again is replaced ever more
// slowly; the names of revisions are upstream's.
//
//	plan := daemonset.Decide(daemonset.Observed{Set: ds, Nodes: nodes, Pods: pods, Hash: hash, Now: now})
//	// plan.Create names nodes, plan.Delete pods
//
// Next: scheduler.
package daemonset
