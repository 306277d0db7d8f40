// Package preemption decides which pods to end so that a more urgent one fits.
//
//	nodes that refused for want of room ──► without all less urgent pods, would it fit?
//	    └─► put them back, the most important first, as long as it still fits (victims.go)
//	        └─► of these candidates the one that hurts least (choose.go)
//
// Promises: no pod is a victim that is as urgent as the new one; budgets are violated only
// when nothing else helps; nothing is changed, neither in the cluster nor in what is given.
//
//	candidates, why := preemption.Find(attempt, budgets, 10, 100)
//
// Next: scheduler/plugins (DefaultPreemption) and scheduler/preempt.go, which carries it out.
package preemption
