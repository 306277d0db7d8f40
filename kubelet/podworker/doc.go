// Package podworker runs one function per pod, never twice at once for the same pod, and always again after the pod
// was touched.
//
// A Pool promises: after Trigger(uid) the function runs at least once with whatever is the truth then, however many
// triggers came before it ran (the latest state wins); runs of one pod never overlap; different pods don't wait for
// each other; a pod for which nothing is to be done has no goroutine, only a map entry while a timer is set.
//
//	pool := podworker.New(podworker.Options{Clock: clock, Sync: sync})
//	go pool.Run(ctx)                 // returns when ctx has ended and the last sync has returned
//	pool.Trigger(uid)                // something changed
//	pool.Interrupt(uid)              // and what is being done about the older state is pointless
//	pool.Forget(uid)                 // the pod is gone for good
//
// Next: kubelet/plan
package podworker
