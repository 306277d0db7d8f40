// Package policy enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies: which of them are in
// force for a write, with which parameters, what their expressions say, and what follows of it.
//
// A Source holds the policies compiled; it looks at two counters to know that nothing changed since. Without
// policies that is all that a write costs.
//
// Rules: k8s.io/apiserver/pkg/admission/plugin/policy, whose texts are kept.
//
// Next: apiserver/admission/review
package policy
