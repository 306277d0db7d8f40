// Package cache is what the scheduler knows of nodes and the pods on them: what the watches
// delivered, and pods that it has just placed itself and that the watches don't know yet
// (assumed).
//
// Promises: a NodeInfo in it is never changed, only replaced; a Snapshot is brought up to
// date by taking over the pointers that changed since, so a quiet cluster of thousands of
// nodes costs nothing per pod; a pod is counted once, whether assumed, confirmed, or
// reported on another node than assumed. It is safe for concurrent use; a Snapshot belongs
// to one goroutine.
//
//	c := cache.New()
//	c.Update(&snapshot)
//	err := c.Assume(pod, "node-1")   // then Forget(pod), should binding fail
//
// Next: scheduler/framework.
package cache
