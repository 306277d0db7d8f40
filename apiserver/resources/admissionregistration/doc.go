// Package admissionregistration holds the kinds of the group admissionregistration.k8s.io: policies and
// webhooks that change and judge what others write, and what binds policies.
//
// What they do when somebody writes is in apiserver/admission.
//
// Next: apiserver/admission/policy
package admissionregistration
