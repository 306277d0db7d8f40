// Package apiregistration holds the kind of the group apiregistration.k8s.io: which server serves a group version.
//
// Next: apiserver/resource
package apiregistration
