package framework

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// SelfChange says what has changed of a waiting pod that may change a plugin's mind. Its
// status and annotations never do.
func SelfChange(before, after *corev1.Pod) (change Change) {
	if !apiequality.Semantic.DeepEqual(before.Labels, after.Labels) {
		change |= SelfLabels
	}
	// Tolerations can be added and not be taken away.
	if len(before.Spec.Tolerations) != len(after.Spec.Tolerations) {
		change |= SelfTolerations
	}
	if len(before.Spec.SchedulingGates) > 0 && len(after.Spec.SchedulingGates) == 0 {
		change |= SelfGates
	}
	if before.Generation != after.Generation && NewPodInfo(after).Requests.LessThan(&NewPodInfo(before).Requests) {
		change |= SelfShrunk
	}
	return change
}

// LessThan says that some amount is smaller.
func (r *Resources) LessThan(other *Resources) bool {
	if r.MilliCPU < other.MilliCPU || r.Memory < other.Memory || r.EphemeralStorage < other.EphemeralStorage {
		return true
	}
	for name, amount := range other.Scalar {
		if r.Scalar[name] < amount {
			return true
		}
	}
	return false
}

// LessOf says that the amount of something which is asked for is smaller.
func (r *Resources) LessOf(asked, other *Resources) bool {
	less := func(name corev1.ResourceName) bool { return asked.Of(name) > 0 && r.Of(name) < other.Of(name) }
	if less(corev1.ResourceCPU) || less(corev1.ResourceMemory) || less(corev1.ResourceEphemeralStorage) {
		return true
	}
	for name := range asked.Scalar {
		if less(name) {
			return true
		}
	}
	return false
}
