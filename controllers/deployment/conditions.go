package deployment

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of the conditions; kubectl rollout status and others match on them.
const (
	reasonUpdated       = "ReplicaSetUpdated"
	reasonCreateError   = "ReplicaSetCreateError"
	reasonCreated       = "NewReplicaSetCreated"
	reasonFound         = "FoundNewReplicaSet"
	reasonAvailable     = "NewReplicaSetAvailable"
	reasonTimedOut      = "ProgressDeadlineExceeded"
	reasonPaused        = "DeploymentPaused"
	reasonResumed       = "DeploymentResumed"
	reasonMinimumMet    = "MinimumReplicasAvailable"
	reasonMinimumMissed = "MinimumReplicasUnavailable"
)

func condition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return &status.Conditions[i]
		}
	}
	return nil
}

func newCondition(kind appsv1.DeploymentConditionType, value corev1.ConditionStatus, reason, message string, now time.Time) appsv1.DeploymentCondition {
	return appsv1.DeploymentCondition{
		Type: kind, Status: value, Reason: reason, Message: message,
		LastUpdateTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}
}

// setCondition puts next at the end. One with the same status and reason stays as it
// is, message and times included; one with the same status keeps its transition time.
func setCondition(status *appsv1.DeploymentStatus, next appsv1.DeploymentCondition) {
	if current := condition(status, next.Type); current != nil && current.Status == next.Status {
		if current.Reason == next.Reason {
			return
		}
		next.LastTransitionTime = current.LastTransitionTime
	}
	removeCondition(status, next.Type)
	status.Conditions = append(status.Conditions, next)
}

func removeCondition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) {
	status.Conditions = slices.DeleteFunc(slices.Clone(status.Conditions), func(c appsv1.DeploymentCondition) bool {
		return c.Type == kind
	})
	if len(status.Conditions) == 0 {
		status.Conditions = nil
	}
}

// recordPause notes in the Progressing condition that the clock of the deadline
// stands still, or runs again. A reported lack of progress is not overwritten.
func (p *pass) recordPause() {
	d := p.deployment
	if !hasDeadline(d) {
		return
	}
	current := condition(&d.Status, appsv1.DeploymentProgressing)
	if current != nil && current.Reason == reasonTimedOut {
		return
	}
	noted := current != nil && current.Reason == reasonPaused
	switch {
	case d.Spec.Paused && !noted:
		setCondition(&d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown,
			reasonPaused, "Deployment is paused", p.now))
	case !d.Spec.Paused && noted:
		setCondition(&d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown,
			reasonResumed, "Deployment is resumed", p.now))
	}
}
