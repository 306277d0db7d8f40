// Package authz decides who may do what: administrators everything, kubelets what their node needs (package node), everybody else what
// roles allow (package rbac). A server without these modes allows everything to every authenticated user.
//
// Next: apiserver/handlers
package authz
