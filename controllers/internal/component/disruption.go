package component

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Disrupt sets a pod's condition DisruptionTarget, by which the owner of a pod that a
// controller is about to delete can see that it wasn't the pod's own failure. It says
// whether that changed anything.
func Disrupt(pod *corev1.Pod, reason, message string, now time.Time) (changed bool) {
	next := corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now), ObservedGeneration: pod.Generation,
	}
	present := podstate.Condition(pod, corev1.DisruptionTarget)
	if present == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, next)
		return true
	}
	if present.Status == next.Status {
		next.LastTransitionTime = present.LastTransitionTime
	}
	if *present == next {
		return false
	}
	*present = next
	return true
}
