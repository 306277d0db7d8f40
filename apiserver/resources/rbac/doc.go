// Package rbac holds the kinds of the group rbac.authorization.k8s.io. What their rules allow is judged elsewhere.
//
// Next: apiserver/resources/scheduling
package rbac
