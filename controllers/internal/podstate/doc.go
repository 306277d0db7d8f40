// Package podstate answers the questions that several controllers ask of a pod's
// status: is it active, ready, available, and since when.
//
// Promises: every function is pure; time is a parameter.
//
//	if podstate.Available(pod, minReadySeconds, now) { available++ }
//
// Next: controllers/replicaset.
package podstate
