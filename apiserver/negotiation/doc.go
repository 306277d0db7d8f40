// Package negotiation finds out in which form a client wants its answer, and which form its body has.
//
// Forms are JSON, YAML and protobuf; on top of each a client may ask for a Table or for metadata alone
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources).
//
// Next: apiserver/handlers
package negotiation
