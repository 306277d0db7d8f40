// Package ephemeralvolume makes the PersistentVolumeClaims of pods' ephemeral volumes.
//
// Promises: a claim of that name that belongs to somebody else is never used; the claim goes
// with the pod, which owns it.
//
//	claims, err := ephemeralvolume.Decide(pod, present)
//
// Next: controllers/volumebinder.
package ephemeralvolume
