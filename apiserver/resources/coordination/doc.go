// Package coordination holds the kinds of the group coordination.k8s.io.
//
// Next: apiserver/resources/events
package coordination
