// Package replication keeps as many pods of a template as a ReplicationController asks
// for: the older sibling of a ReplicaSet, whose decisions it shares.
//
// Promises: those of the package replicaset. A ReplicationController has no field for pods
// that are being deleted, and its selector knows only labels that must be equal.
//
//	plan := replicaset.Decide(replicaset.Observed{ReplicaSet: replication.AsReplicaSet(rc), …})
//	rc.Status = replication.Status(replicaset.Status(observed, plan, failure))
//
// Next: scheduler.
package replication
