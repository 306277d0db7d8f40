// Package storagemigration holds the kind of the group storagemigration.k8s.io.
//
// Next: apiserver/resource
package storagemigration
