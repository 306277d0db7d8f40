// Package discovery holds the kinds of the group discovery.k8s.io.
//
// Next: apiserver/resources/coordination
package discovery
