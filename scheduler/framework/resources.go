package framework

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Resources are amounts: thousandths of a CPU, bytes, counts of anything else.
type Resources struct {
	MilliCPU         int64
	Memory           int64
	EphemeralStorage int64
	// Scalar has extended and other resources by name; nil when there are none.
	Scalar map[corev1.ResourceName]int64
}

// For scoring, a container that asks for nothing is taken to use this much, or a node
// could be filled with such pods and still look empty. Upstream's figures.
const (
	assumedMilliCPU = 100
	assumedMemory   = 200 * 1024 * 1024
)

var assumedRequests = corev1.ResourceList{
	corev1.ResourceCPU:    *resource.NewMilliQuantity(assumedMilliCPU, resource.DecimalSI),
	corev1.ResourceMemory: *resource.NewQuantity(assumedMemory, resource.DecimalSI),
}

// NewResources takes the amounts from a list.
func NewResources(list corev1.ResourceList) Resources {
	var r Resources
	for name, quantity := range list {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = quantity.MilliValue()
		case corev1.ResourceMemory:
			r.Memory = quantity.Value()
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorage = quantity.Value()
		case corev1.ResourcePods:
		default:
			if r.Scalar == nil {
				r.Scalar = map[corev1.ResourceName]int64{}
			}
			r.Scalar[name] = quantity.Value()
		}
	}
	return r
}

// podRequests gives what a pod asks for, init containers, sidecars, pod-level amounts and
// overhead included; and the same with assumed amounts where containers are silent. Of a
// pod being resized it is the larger of what it wants and what it has.
func podRequests(pod *corev1.Pod) (requests, assumed Resources) {
	if requests, assumed, ok := plainRequests(pod); ok {
		return requests, assumed
	}
	return anyRequests(pod)
}

// anyRequests is podRequests of whatever pod.
func anyRequests(pod *corev1.Pod) (requests, assumed Resources) {
	options := resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}
	requests = NewResources(resourcehelper.PodRequests(pod, options))
	options.NonMissingContainerRequests = assumedRequests
	with := resourcehelper.PodRequests(pod, options)
	assumed = Resources{MilliCPU: with.Cpu().MilliValue(), Memory: with.Memory().Value()}
	return requests, assumed
}

// plus gives the sum, sign 1, or the difference, sign -1. The operands stay as they are.
func (r Resources) plus(other *Resources, sign int64) Resources {
	r.MilliCPU += sign * other.MilliCPU
	r.Memory += sign * other.Memory
	r.EphemeralStorage += sign * other.EphemeralStorage
	if len(other.Scalar) > 0 {
		scalar := make(map[corev1.ResourceName]int64, len(r.Scalar)+len(other.Scalar))
		for name, amount := range r.Scalar {
			scalar[name] = amount
		}
		for name, amount := range other.Scalar {
			scalar[name] += sign * amount
		}
		r.Scalar = scalar
	}
	return r
}

// Of is the amount of one resource.
func (r *Resources) Of(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.Memory
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorage
	}
	return r.Scalar[name]
}

// IsZero says that nothing is asked for.
func (r *Resources) IsZero() bool {
	return r.MilliCPU == 0 && r.Memory == 0 && r.EphemeralStorage == 0 && len(r.Scalar) == 0
}
