// Package ownership keeps the controller references of a controller's dependents
// in step with its selector: matching orphans are adopted, owned objects that no
// longer match are released.
//
// Promises: an object that another controller owns is never touched; nothing is
// adopted by an owner that is being deleted, which is checked against the API
// server itself and not only against the cache (k/k#42639).
//
//	claimed, err := ownership.Claim(ctx, ownership.Claimer{Client: c, Live: reader, Owner: rs, Kind: kind, Selector: s}, pods)
//
// Next: controllers/replicaset.
package ownership
