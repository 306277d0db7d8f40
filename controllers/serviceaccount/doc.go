// Package serviceaccount gives every namespace its ServiceAccount "default", which
// pods run as when they name no other.
//
// Promises: it is there soon after the namespace is, and again when somebody deletes
// it; a namespace that is being deleted gets none.
//
//	needed := serviceaccount.Needed(namespace, found)
//
// Next: controllers/rootca.
package serviceaccount
