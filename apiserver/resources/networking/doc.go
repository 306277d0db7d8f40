// Package networking holds the kinds of the group networking.k8s.io.
//
// Next: apiserver/resources/rbac
package networking
