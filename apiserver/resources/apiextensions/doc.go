// Package apiextensions has the kind of the group apiextensions.k8s.io: CustomResourceDefinition. What such a definition makes
// the server serve is in apiserver/crd.
//
// The rules are upstream's, with their texts and paths. They speak of the internal form of a definition, in which what all
// versions have in common stands once (spec.validation, spec.subresources, …), so everything here converts first.
//
// Next: apiserver/crd
package apiextensions
