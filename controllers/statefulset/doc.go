// Package statefulset keeps pods that have names: web-0, web-1 and so on, each with volumes
// that it finds again.
//
// Decide is the pure part: plan.go goes through the ordinals, rolling.go takes an update
// from the highest ordinal down, identity.go says what a pod must be called, claims.go which
// claims it has and who owns them.
//
// Promises: with OrderedReady a pod is made only when all before it are available, and
// deleted only when all after it are gone; there are never two pods of one name; revisions
// have upstream's names.
//
//	plan := statefulset.Decide(statefulset.Observed{Set: set, Pods: pods, Now: now, …})
//	// plan.Create, plan.Delete, plan.Update pods; plan.Claims for what they need
//
// Next: scheduler.
package statefulset
