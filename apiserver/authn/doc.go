// Package authn finds out who sends a request: by an identity of this process, a client certificate, a
// token of a file or a ServiceAccount's token. A request without any of these is anonymous; one with
// a wrong one is refused.
//
// Next: apiserver/authz
package authn
