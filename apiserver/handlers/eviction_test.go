package handlers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestSpend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		generation int64
		status     policyv1.PodDisruptionBudgetStatus
		cause      string
		left       int32
	}{
		"one left":   {1, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1}, "", 0},
		"two left":   {1, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 2}, "", 1},
		"none left":  {1, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DesiredHealthy: 3, CurrentHealthy: 2}, "The disruption budget b needs 3 healthy pods and has 2 currently", 0},
		"not looked": {2, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1}, "The disruption budget b is still being processed by the server.", 1},
		"failed": {1, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{
			{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "why"}}},
			"The disruption budget b does not allow evicting pods currently because it failed sync: why", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b", Generation: c.generation}, Status: c.status}
			err := spend(b, "p", metav1.Now())
			if (err == nil) != (c.cause == "") || b.Status.DisruptionsAllowed != c.left {
				t.Fatalf("%v, %d left", err, b.Status.DisruptionsAllowed)
			}
			if err == nil {
				if _, ok := b.Status.DisruptedPods["p"]; !ok {
					t.Error("the pod is not noted")
				}
				return
			}
			cause, ok := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
			if !apierrors.IsTooManyRequests(err) || !ok || cause.Message != c.cause {
				t.Errorf("%v: %+v", err, cause)
			}
		})
	}
}

func TestDisruptsNothing(t *testing.T) {
	t.Parallel()
	ready := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	for name, c := range map[string]struct {
		pod              *corev1.Pod
		policy           policyv1.UnhealthyPodEvictionPolicyType
		current, desired int32
		want             bool
	}{
		"ready":                    {ready, policyv1.AlwaysAllow, 2, 1, false},
		"unready, always":          {&corev1.Pod{}, policyv1.AlwaysAllow, 0, 1, true},
		"unready, budget healthy":  {&corev1.Pod{}, policyv1.IfHealthyBudget, 1, 1, true},
		"unready, budget short":    {&corev1.Pod{}, policyv1.IfHealthyBudget, 0, 1, false},
		"unready, nothing desired": {&corev1.Pod{}, policyv1.IfHealthyBudget, 0, 0, false},
	} {
		b := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{UnhealthyPodEvictionPolicy: ptr.To(c.policy)},
			Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: c.current, DesiredHealthy: c.desired}}
		if got := disruptsNothing(b, c.pod); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
