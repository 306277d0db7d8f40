// Package webhook asks servers outside what they say to a write: mutating webhooks change it, one after the
// other, validating ones judge it, all at once.
//
// A webhook is at a URL, or behind a Service: then an endpoint of the Service is dialled directly, so that
// nothing needs to route addresses of Services. Configurations of webhooks and policies are never sent.
//
// Rules: k8s.io/apiserver/pkg/admission/plugin/webhook, whose texts are kept.
//
// Next: apiserver/admission/review
package webhook
