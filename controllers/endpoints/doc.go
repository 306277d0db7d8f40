// Package endpoints lists the pods behind each Service in an Endpoints object, the older
// form of EndpointSlice. It is deprecated and still read by many.
//
// Promises: the object has the Service's name and labels and is in upstream's canonical
// form (Repack): addresses that share the same ports stand in one subset, in an order
// that depends on nothing but the content, so that an object made by one control plane is
// found unchanged by another; at most 1000 addresses, ready ones first.
//
//	wanted, change := endpoints.Decide(endpoints.Observed{Service: s, Pods: pods, Current: current})
//
// Next: controllers/endpointslice.
package endpoints
