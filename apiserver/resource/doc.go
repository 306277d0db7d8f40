// Package resource says what a resource is: all that the API server knows of a kind stands in one
// literal of this package's types, one file a kind below apiserver/resources.
//
// A kind's file calls Define with typed hooks; what comes out is a Resource whose hooks take any
// object, so that one set of handlers serves every kind. Custom resources become the same value at
// run time.
//
//	var ConfigMap = resource.Define(resource.Kind[*corev1.ConfigMap]{
//		Name: resource.Name{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Short: []string{"cm"}},
//		...
//	})
//
// Hooks are called in the order Default, Prepare, Validate; they may change only the object they are
// given first, and must not keep it.
//
// Next: apiserver/resources
package resource
