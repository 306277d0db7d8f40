// Package authz decides who may do what.
//
// Until roles are served every authenticated user may do everything; an anonymous one may ask for the
// server's health and version.
//
// Next: apiserver/handlers
package authz
