// Package disruption works out how many pods of a PodDisruptionBudget may be evicted now.
//
// Promises: when it can't tell, the budget allows no disruption, and says why; a pod whose
// eviction was granted counts as gone until it is, or for two minutes; a pod that stays
// marked for disruption and isn't deleted for as long is unmarked.
//
//	plan := disruption.Decide(disruption.Observed{Budget: pdb, Pods: pods, Scales: scales, Now: now})
//	// plan.Status.DisruptionsAllowed
//
// Next: controllers/namespace.
package disruption
