// Package admission changes and judges writes between their authorization and the store: what a
// cluster as such demands of its objects, beyond what their kinds do.
//
// A plugin is a small type with a name that upstream's plugin has; the chain is one ordered list.
//
// Next: apiserver/internal/store
package admission
