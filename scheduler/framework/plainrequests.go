package framework

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// plainRequests gives what podRequests does, for a pod of the ordinary: containers that ask for processors, memory and storage alone, and
// have what they ask for. That is nearly every pod, and no list needs to be made of it. False: it is another.
func plainRequests(pod *corev1.Pod) (requests, assumed Resources, ok bool) {
	if !isPlain(pod) {
		return Resources{}, Resources{}, false
	}
	var cpu, memory, storage resource.Quantity
	silentCPU, silentMemory := int64(0), int64(0)
	for i := range pod.Spec.Containers {
		asks := pod.Spec.Containers[i].Resources.Requests
		for name, quantity := range asks {
			switch name {
			case corev1.ResourceCPU:
				cpu.Add(quantity)
			case corev1.ResourceMemory:
				memory.Add(quantity)
			case corev1.ResourceEphemeralStorage:
				storage.Add(quantity)
			default:
				return Resources{}, Resources{}, false
			}
		}
		if _, said := asks[corev1.ResourceCPU]; !said {
			silentCPU++
		}
		if _, said := asks[corev1.ResourceMemory]; !said {
			silentMemory++
		}
	}
	requests = Resources{MilliCPU: cpu.MilliValue(), Memory: memory.Value(), EphemeralStorage: storage.Value()}
	assumed = Resources{MilliCPU: requests.MilliCPU + silentCPU*assumedMilliCPU, Memory: requests.Memory + silentMemory*assumedMemory}
	return requests, assumed, true
}

// isPlain tells whether what a pod asks for is what its containers ask for, neither more, nor something that is being changed.
func isPlain(pod *corev1.Pod) bool {
	spec, status := &pod.Spec, &pod.Status
	if len(spec.InitContainers) > 0 || len(spec.Overhead) > 0 || spec.Resources != nil || len(spec.ResourceClaims) > 0 ||
		status.AllocatedResources != nil && status.Resources != nil && status.Resources.Requests != nil || len(status.NodeAllocatableResourceClaimStatuses) > 0 {
		return false
	}
	for i := range status.Conditions {
		if t := status.Conditions[i].Type; t == corev1.PodResizePending || t == corev1.PodResizeInProgress {
			return false
		}
	}
	for i := range status.ContainerStatuses {
		has := &status.ContainerStatuses[i]
		if has.AllocatedResources == nil && has.Resources == nil {
			continue
		}
		asks, found := asksOf(spec, has.Name)
		if !found || has.AllocatedResources != nil && !sameAmounts(has.AllocatedResources, asks) ||
			has.Resources != nil && has.Resources.Requests != nil && !sameAmounts(has.Resources.Requests, asks) {
			return false
		}
	}
	return true
}

func asksOf(spec *corev1.PodSpec, container string) (corev1.ResourceList, bool) {
	for i := range spec.Containers {
		if spec.Containers[i].Name == container {
			return spec.Containers[i].Resources.Requests, true
		}
	}
	return nil, false
}

func sameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		if other, ok := b[name]; !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
