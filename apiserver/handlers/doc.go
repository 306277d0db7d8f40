// Package handlers turns HTTP requests for resources into calls of their registry, one file a verb.
//
// All handlers serve all kinds. Bytes that the cache holds go out as they are; an object is decoded only
// where a table, a conversion or a patch needs it.
//
//	h := handlers.New(handlers.Options{...})
//	h.ServeHTTP(w, r) // the request's context holds its Info and User
//
// Next: apiserver/patch
package handlers
