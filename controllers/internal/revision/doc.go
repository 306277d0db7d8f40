// Package revision keeps the history of a workload's template: what a template hashes to,
// and the ControllerRevisions in which DaemonSets and StatefulSets store their earlier ones.
//
// Promises: hashes and stored patches are upstream's to the letter, so that a workload
// taken over from a genuine control plane doesn't roll out anew.
//
//	data, err := revision.Patch(&set.Spec.Template)
//	name := set.Name + "-" + revision.DataHash(data, set.Status.CollisionCount)
//
// Next: controllers/internal/podcontrol.
package revision
