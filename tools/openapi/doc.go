// Command openapi makes the API server's embedded OpenAPI documents, of version 3 and 2: it takes a genuine
// server's descriptions of the types, keeps the paths that the catalogue serves and the schemas that these
// need, and packs them.
//
//	go run ./tools/openapi -out apiserver/openapi -models apiserver/crd/models.json -spec DIR
//
// DIR holds the documents of a genuine API server: v2.json, a file for each path of version 3's index, and
// definition.json, the document of a custom resource called models.kogge.example.com;
// `make generate` fetches them.
package main
