// Package endpointslicemirroring copies Endpoints that users keep themselves into
// EndpointSlices, which is what proxies read.
//
// Promises: only Endpoints of a Service without a selector are mirrored; the slices carry
// their labels and annotations, and go with them; a slice of the right ports is changed, not
// replaced.
//
//	plan := endpointslicemirroring.Decide(endpoints, slices)
//
// Next: proxy.
package endpointslicemirroring
