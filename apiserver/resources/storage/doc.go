// Package storage holds the kinds of the group storage.k8s.io: what storage drivers say of themselves and
// are asked for.
//
// Next: apiserver/resources/admissionregistration
package storage
