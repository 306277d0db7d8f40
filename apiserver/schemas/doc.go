// Package schemas has the structured-merge schema of the built-in kinds: what fields there are, and by which keys the items of their lists
// are merged. It is client-go's, in a form that is read in a few milliseconds; parsing client-go's own takes longer than the rest of a start.
//
//	parser, err := schemas.Parser()
//
// What is embedded is made from client-go by this package's test, as a part of make generate:
//
//	go test ./apiserver/schemas -update
//
// Next: apiserver/patch
package schemas
