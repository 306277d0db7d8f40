// Package handover lets the components of one process share the objects that they watch.
//
// A component watches through client-go: it asks for frames and decodes them, each component its own copy of every object. Where all of
// them run in the API server's process, that is most of what a pod costs. So a component asks, in a header of its watch, for the objects
// themselves: the request goes the way of every other, through authentication, authorization and what else stands in the chain, and only
// the body of the answer is another. It carries one object for all who watch it, without managedFields, which no component reads.
//
//	sharer, err := handover.New(config)
//	informer := cache.NewSharedIndexInformer(sharer.ListWatch(source, handover.Watch{Path: "/api/v1/pods"}), &corev1.Pod{}, 0, nil)
//
// The rule of all informers holds the more: who changes an object copies it first.
//
// With a transport over a network nothing is handed over, and the informer's own source is used as it is.
//
// Next: apiserver/internal/inprocess
package handover
