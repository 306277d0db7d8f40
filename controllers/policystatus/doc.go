// Package policystatus looks for mistakes in ValidatingAdmissionPolicies that only show when types are
// known: fields that a Deployment doesn't have, numbers compared with strings. It writes what it finds
// into the policy's status.
//
// Promises: a policy works the same whatever is found; each generation is looked at once; types come
// from what the API server publishes, so that custom resources have them too.
//
//	warnings := policystatus.Warnings(policy, kinds)
//
// Next: controllers/resourcequota.
package policystatus
