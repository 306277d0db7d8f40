// Package apiserver is the API server: the only door to the store. It serves the genuine wire formats
// over HTTP/2, from memory, for built-in kinds that stand in one catalogue (package resources).
//
// A request passes, in this order: panic guard, request info, authentication, authorization, and then
// discovery, OpenAPI, health or a resource's handler; a write passes admission on its way.
//
//	s, err := apiserver.New(ctx, apiserver.Options{DataDir: dir, ...})
//	err = s.Run(ctx)
//
// Next: apiserver/request
package apiserver
