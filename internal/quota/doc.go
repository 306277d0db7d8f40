// Package quota measures what objects use of a ResourceQuota. The API server charges with
// it as objects are written, the quota controller counts with it what there is: both must
// measure alike, or one would undo what the other did.
//
// Promises: everything is pure; time is a parameter; nothing that is given is changed.
//
//	evaluator := quota.For(schema.GroupResource{Resource: "pods"})
//	used := quota.Add(used, evaluator.Usage(pod, now))
//
// Next: controllers/resourcequota.
package quota
