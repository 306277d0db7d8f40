// Package disruption works out how many pods of a PodDisruptionBudget may be evicted now.
//
// Promises: when it can't tell, the budget allows no disruption, and says why; a pod whose
// eviction was granted counts as gone until it is, or for two minutes.
//
//	plan := disruption.Decide(disruption.Observed{Budget: pdb, Pods: pods, Scales: scales, Now: now})
//	// plan.Status.DisruptionsAllowed
//
// Next: controllers/namespace.
package disruption
