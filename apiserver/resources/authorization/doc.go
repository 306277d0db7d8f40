// Package authorization holds the kinds of the group authorization.k8s.io: questions about who may do what. None is stored.
package authorization
