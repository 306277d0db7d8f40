// Package tainteviction deletes pods from nodes with a NoExecute taint that they don't
// tolerate, or no longer tolerate when their tolerationSeconds are over.
//
// Decide is the pure part. The seconds count from when the taint came upon the pod: from
// the taint's time, or from the pod's own beginning on the node if that is later. Both
// stand in the API, so a restart of the controller neither prolongs nor shortens them.
//
// Promises: condition DisruptionTarget, events and their texts are upstream's; when the
// taint goes in time, so does the eviction, and an event says so.
//
//	verdict := tainteviction.Decide(pod, node.Spec.Taints, since, now)
//	// verdict.Evict, or look again after verdict.After
//
// Next: controllers/podgc.
package tainteviction
