package controllers

import (
	"net/http"

	"k8s.io/apimachinery/pkg/types"
)

// applyTransport asks for JSON in answer to an apply, whatever else the configuration prefers: controller-runtime reads
// nothing else there, and would report what was written as failed.
type applyTransport struct{ inner http.RoundTripper }

// RoundTrip is http.RoundTripper.
func (t applyTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPatch && request.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType) {
		request = request.Clone(request.Context())
		request.Header.Set("Accept", "application/json")
	}
	return t.inner.RoundTrip(request)
}
