// Package expression compiles and evaluates the CEL expressions of admission: those of policies and of
// webhooks' match conditions.
//
// Compiling needs environments that are costly to make: each is made when it is first asked for, so
// that a server without policies never pays. Evaluating is bounded by a budget of CEL's cost units
// that several expressions share.
//
// Rules: k8s.io/apiserver/pkg/admission/plugin/cel, whose texts are kept.
package expression
