// Package downward answers what a pod may ask about itself: its fields and its containers' resources, for
// environment variables and for files of a downwardAPI volume.
//
// All functions are pure.
//
//	name, err := downward.Field(pod, "metadata.name", facts)
//	cpu, err := downward.Resource(pod, selector, "web", facts)
package downward
