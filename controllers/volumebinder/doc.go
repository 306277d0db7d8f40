// Package volumebinder brings PersistentVolumeClaims and PersistentVolumes together: it
// finds the smallest volume that does for a claim, binds the two to each other, hands claims
// of other classes to their provisioners, and frees volumes whose claims are gone.
//
// A binding is written in four steps (volume, its phase, claim, its phase), each of which
// the next pass can take up: the volume's claimRef holds the claim's uid from the first on,
// so that no volume is ever given twice.
//
// Promises: claims of a class that waits for its first consumer are left to the scheduler; a
// claim that lost its volume says so and is never bound anew. Volumes with the policy Delete
// are left to their CSI driver; there are no drivers in here, so others end as Failed, as do
// all with the policy Recycle.
//
//	plan := volumebinder.DecideClaim(volumebinder.ClaimView{Claim: claim, Volumes: volumes})
//
// claim_plan.go and volume_plan.go decide, match.go finds volumes, bind.go writes.
//
// Next: controllers/volumeprotection.
package volumebinder
