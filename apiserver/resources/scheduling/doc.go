// Package scheduling holds the kinds of the group scheduling.k8s.io.
//
// Next: apiserver/resources/node
package scheduling
