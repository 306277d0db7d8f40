// Package podgc deletes pods that are bound to a node which no longer exists: no kubelet
// will ever confirm their deletion.
//
// Promises: a node that is missing from the watch is waited for, and then asked for at the
// server itself, before any of its pods is touched; a pod that hadn't finished is marked
// as failed first, so that its owner counts it.
//
//	if podgc.Wait(missingFor) == 0 { podgc.Fail(pod, now) }
//
// Next: controllers/garbagecollector.
package podgc
