package apiserver_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// running makes a pod that a kubelet has said to be ready.
func running(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	made, err := c.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Status.Phase = corev1.PodRunning
	made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if _, err := c.CoreV1().Pods("default").UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestEviction follows two pods and a budget that lets one go: a dry run takes nothing, one is evicted, the other refused.
func TestEviction(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	if _, err := c.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	running(t, c, "one")
	running(t, c, "two")
	budgets := c.PolicyV1().PodDisruptionBudgets("default")
	b, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2}
	if _, err := budgets.UpdateStatus(ctx, b, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	evict := func(name string, dryRun ...string) error {
		return c.PolicyV1().Evictions("default").Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, DeleteOptions: &metav1.DeleteOptions{DryRun: dryRun}})
	}
	if err := evict("one", metav1.DryRunAll); err != nil {
		t.Fatalf("dry run: %v", err)
	}
	if err := evict("one"); err != nil {
		t.Fatal(err)
	}
	gone, err := c.CoreV1().Pods("default").Get(ctx, "one", metav1.GetOptions{})
	if err != nil || gone.DeletionTimestamp == nil || gone.Status.Conditions[len(gone.Status.Conditions)-1].Reason != "EvictionByEvictionAPI" {
		t.Errorf("the evicted pod: %v %+v", err, gone)
	}
	if err := evict("two"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("beyond the budget: %v", err)
	}
	if b, err = budgets.Get(ctx, "b", metav1.GetOptions{}); err != nil || b.Status.DisruptionsAllowed != 0 || len(b.Status.DisruptedPods) != 1 {
		t.Errorf("the budget: %v %+v", err, b.Status)
	}
	if err := evict("none"); !apierrors.IsNotFound(err) {
		t.Errorf("no such pod: %v", err)
	}
	if _, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var status apierrors.APIStatus
	if err := evict("two"); !errors.As(err, &status) || status.Status().Code != 500 {
		t.Errorf("two budgets: %v", err)
	}
}
