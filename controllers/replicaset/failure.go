package replicaset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setFailure keeps the ReplicaFailure condition: there while pods can't be made or
// deleted, telling the error that came first, gone when a pass went well.
func setFailure(status *appsv1.ReplicaSetStatus, plan Plan, failure error, now time.Time) {
	isFailure := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	if failure == nil {
		status.Conditions = slices.DeleteFunc(status.Conditions, isFailure)
		if len(status.Conditions) == 0 {
			status.Conditions = nil
		}
		return
	}
	if slices.ContainsFunc(status.Conditions, isFailure) {
		return
	}
	reason := "FailedDelete"
	if plan.Missing > 0 {
		reason = "FailedCreate"
	}
	status.Conditions = append(status.Conditions, appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now), Reason: reason, Message: failure.Error(),
	})
}
