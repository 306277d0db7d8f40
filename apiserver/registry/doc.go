// Package registry creates, reads, changes and deletes the objects of any resource, in the store and
// its cache.
//
// It is the same for every kind: a kind's own rules are the hooks of its resource. Each write decodes
// nothing that it need not, compares the stored revision, and leaves managedFields saying who set what.
//
//	r := registry.New(registry.Options{Resource: core.ConfigMap, Store: s, Cache: c, ...})
//	result, err := r.Create(ctx, obj, registry.WriteOptions{Manager: "kubectl"})
//
// Errors are metav1.Status errors with upstream's reasons and texts.
//
// Next: apiserver/admission
package registry
