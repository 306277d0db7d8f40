// Package request holds what the API server knows of the request it is serving: which resource, verb
// and name the path means, who asks, and the warnings to be sent back.
//
// All of it travels in the request's context.
//
// Next: apiserver/authn
package request
