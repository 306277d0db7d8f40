package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Finished says that the pod has run to its end and will not run again.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Active says that the pod counts as a replica: not finished, not being deleted.
func Active(pod *corev1.Pod) bool {
	return !Finished(pod) && pod.DeletionTimestamp == nil
}

// Terminating says that the pod is being deleted and has not finished yet.
func Terminating(pod *corev1.Pod) bool {
	return !Finished(pod) && pod.DeletionTimestamp != nil
}

// Condition gives the condition of the given type, or nil.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// Ready says that the pod's Ready condition is true.
func Ready(pod *corev1.Pod) bool {
	ready := Condition(pod, corev1.PodReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// ReadySince is when the pod became ready; zero when it isn't.
func ReadySince(pod *corev1.Pod) time.Time {
	if ready := Condition(pod, corev1.PodReady); ready != nil && ready.Status == corev1.ConditionTrue {
		return ready.LastTransitionTime.Time
	}
	return time.Time{}
}

// Available says that the pod is ready and has been for minReadySeconds.
func Available(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	if !Ready(pod) {
		return false
	}
	if minReadySeconds == 0 {
		return true
	}
	since := ReadySince(pod)
	return !since.IsZero() && !AvailableAt(pod, minReadySeconds).After(now)
}

// AvailableAt is the moment at which a ready pod becomes available.
func AvailableAt(pod *corev1.Pod, minReadySeconds int32) time.Time {
	return ReadySince(pod).Add(time.Duration(minReadySeconds) * time.Second)
}

// Sidecar says that the init container of that name goes on beside the others.
func Sidecar(pod *corev1.Pod, container string) bool {
	for i := range pod.Spec.InitContainers {
		policy := pod.Spec.InitContainers[i].RestartPolicy
		if pod.Spec.InitContainers[i].Name == container && policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			return true
		}
	}
	return false
}

// Stopped says that no container of the pod runs, nor ever will: it has finished, or is being
// deleted and everything in it has ended.
func Stopped(pod *corev1.Pod) bool {
	if Finished(pod) {
		return true
	}
	if pod.DeletionTimestamp == nil {
		return false
	}
	for _, statuses := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			if statuses[i].State.Terminated == nil && statuses[i].State.Waiting == nil {
				return false
			}
		}
	}
	return true
}
