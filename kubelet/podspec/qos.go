package podspec

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The lowest priority of a pod that the node must not give up, and the lowest that other pods may be pushed out for.
const (
	nodeCriticalPriority   = 2000001000
	systemCriticalPriority = 2000000000
)

// QOS is the pod's quality of service class: what the API server wrote at creation, or derived by its rule.
func QOS(pod *v1.Pod) v1.PodQOSClass {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass
	}
	return computeQOS(pod)
}

// computeQOS: Guaranteed when cpu and memory of every container have limits and equal requests, BestEffort when
// nothing is requested or limited, Burstable in between. Resources of the pod as a whole come before its containers'.
func computeQOS(pod *v1.Pod) v1.PodQOSClass {
	var all []v1.ResourceRequirements
	if r := pod.Spec.Resources; r != nil && (len(r.Requests) > 0 || len(r.Limits) > 0) {
		all = append(all, *r)
	} else {
		for container, kind := range All(pod) {
			if kind != Ephemeral {
				all = append(all, container.Resources)
			}
		}
	}
	guaranteed, any := true, false
	for _, r := range all {
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
			request, limit := r.Requests[name], r.Limits[name]
			any = any || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && equalUnlessUnset(request, limit)
		}
	}
	switch {
	case !any:
		return v1.PodQOSBestEffort
	case guaranteed:
		return v1.PodQOSGuaranteed
	default:
		return v1.PodQOSBurstable
	}
}

// equalUnlessUnset: a request that is not given defaults to the limit.
func equalUnlessUnset(request, limit resource.Quantity) bool {
	return request.IsZero() || request.Cmp(limit) == 0
}

// IsNodeCritical tells whether the pod belongs to the node itself (priority class system-node-critical).
func IsNodeCritical(pod *v1.Pod) bool {
	return pod.Spec.Priority != nil && *pod.Spec.Priority >= nodeCriticalPriority
}

// IsCritical tells whether other pods may be pushed out to make room for this one.
func IsCritical(pod *v1.Pod) bool {
	return pod.Spec.Priority != nil && *pod.Spec.Priority >= systemCriticalPriority
}
