// Package resourceclaim makes the ResourceClaims of pods that name a template, notes their names in the pods' status,
// reserves claims for pods that were bound without the scheduler, and lets go what no pod uses any more: reservations,
// allocations, and claims that were made for pods that have ended.
//
// Promises: one claim per pod and entry, also when a life ended between making it and noting its name; a reservation goes
// only when its pod is surely gone or done.
//
//	decision := resourceclaim.Settle(claim, stays, owner)
//
// Next: controllers/ephemeralvolume.
package resourceclaim
