// Package replicaset keeps as many pods of a template as a ReplicaSet asks for.
//
// Decide is the pure part: how many pods to make, which to delete (ranking.go says in
// what order), and what the status shall be. The shell adopts and releases pods, makes
// new ones in batches that double while all goes well (a quota that refuses the first
// is not asked five hundred times), and reports each pod as an event.
//
// Promises: it never makes a pod twice because its cache is behind. The client that it
// is given reads its own writes: a list of pods waits until the watch has delivered
// what this process created or deleted before. After a restart the cache is filled
// from the server, so nothing needs to be remembered.
//
//	plan := replicaset.Decide(replicaset.Observed{ReplicaSet: rs, Pods: pods, Now: now})
//	// plan.Create pods to make, plan.Delete pods to delete
//	status := replicaset.Status(observed, plan, failure)
//
// Next: scheduler.
package replicaset
