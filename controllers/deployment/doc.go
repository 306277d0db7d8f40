// Package deployment rolls Deployments out: it makes one ReplicaSet for each pod
// template that a Deployment has had, and moves replicas from the old ones to the
// new one within the bounds of the strategy.
//
// The decision is Decide, a pure function of the Deployment, its ReplicaSets, their
// pods and the time. It reads as upstream's sync does, one pass after the other:
//
//	pause noted → new ReplicaSet found or made → status worked out
//	   → paused or resized: scale all in proportion   (proportional.go)
//	   → Recreate: old ones to zero, then the new one (recreate.go)
//	   → RollingUpdate: new one up, old ones down     (rolling.go)
//	   → finished: old revisions beyond the history limit deleted
//
// Promises: names, hashes, annotations, conditions and events are those of upstream
// v1.37.2, byte for byte; during a rolling update the available replicas never fall
// below replicas-maxUnavailable by the controller's own doing, and all replicas
// together never exceed replicas+maxSurge.
//
//	plan := deployment.Decide(deployment.Observed{Deployment: d, ReplicaSets: sets, Now: now})
//	// plan.Create, plan.Writes, plan.Deletes, plan.Status, plan.CheckAfter
//
// Next: controllers/replicaset.
package deployment
