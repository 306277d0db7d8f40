// Package volumeprotection keeps what is in use from being deleted under its users: claims
// that pods mount, volumes that are bound, attribute classes that either refers to. Each
// carries a finalizer from its creation on; who deletes it sees it Terminating until its
// last user is gone.
//
// Three controllers live here, one for each kind: they do the same and differ only in what
// counts as use.
//
// Promises: before a claim is let go the API server itself is asked for pods, not only the
// cache; a claim says, in its condition Unused, since when no pod refers to it.
//
//	verdict := volumeprotection.Decide(claim, volumeprotection.ClaimFinalizer, used)
//
// Next: controllers/volumebinder.
package volumeprotection
