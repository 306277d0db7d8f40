// Package backends answers what the controllers of Endpoints and of EndpointSlices ask
// alike: which pods stand behind a Service, under which port, and since when.
//
// Promises: everything but Clockwork is pure; Clockwork is safe for concurrent use.
//
//	for _, pod := range pods {
//		if backends.Serves(pod, includeTerminating) { port, ok := backends.Port(pod, &service.Spec.Ports[0]) }
//	}
//
// Next: controllers/endpointslice.
package backends
