// Package openapi serves the API's description: in OpenAPI version 3 a document a group version, each under its
// hash, so that clients keep what did not change; in version 2 one document for everything.
//
// The documents are made by tools/openapi with the catalogue's own paths and embedded compressed; nothing is
// unpacked before somebody asks.
//
// Next: apiserver/resource
package openapi
