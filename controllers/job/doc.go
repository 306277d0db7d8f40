// Package job runs pods to completion: as many at a time as a Job allows, until as many
// have succeeded as it asks for, or too many have failed.
//
// Every pod carries a finalizer until its end is counted in the Job's status. A pass puts
// the uids of ended pods into the status, then takes the finalizers off, then turns the
// uids into counts: killed at any point, the next pass finds what is left to do, and no
// pod is counted twice or lost.
//
// Promises: the verdict on a Job (FailureTarget, SuccessCriteriaMet) is written before any
// pod is let go, and Failed or Complete only when no pod is left; an index that succeeded
// never runs again. Only the delay between failures is kept in memory: a restart of the
// controller begins it anew.
//
//	plan := job.Decide(job.Observed{Job: j, Pods: pods, Now: now})
//	// plan.Create, plan.Delete, plan.Verdict
//
// plan.go decides, settle.go counts, indexes.go holds sets of indexes, failurepolicy.go
// and successpolicy.go read the policies.
//
// Next: controllers/cronjob.
package job
