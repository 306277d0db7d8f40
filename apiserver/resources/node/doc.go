// Package node holds the kinds of the group node.k8s.io.
//
// Next: apiserver/resources/storage
package node
