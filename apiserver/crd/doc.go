// Package crd serves custom resources: it turns each established CustomResourceDefinition into resources like those of the
// catalogue, so that they share every handler, and keeps the definitions' status.
//
// A Controller watches the definitions. What should be is decided by pure functions: plan.go says which names are accepted and what
// the conditions are, definition.go and the files beside it make a definition's versions into resources. The controller writes the
// status and swaps what is served, all versions at once.
//
// Objects have no Go type. They are trees, stored as JSON in the definition's storage version; conversion.go is where versions
// differ in more than their name.
//
// Next: apiserver/resources/apiextensions
package crd
