// Package clusterroleaggregation fills ClusterRoles that are made of others: admin, edit and
// view take in whatever roles are labelled for them.
//
// Promises: the order of rules depends on names alone; nothing is written when nothing
// changed.
//
//	rules, err := clusterroleaggregation.Decide(role, all)
//
// Next: apiserver/authz.
package clusterroleaggregation
