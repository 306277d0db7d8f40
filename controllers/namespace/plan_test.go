package namespace

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func left(finalizers ...string) []metav1.PartialObjectMetadata {
	return []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Finalizers: finalizers}}}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	for name, c := range map[string]struct {
		report  func(*Report)
		kind    corev1.NamespaceConditionType
		message string
		empty   bool
	}{
		"nothing": {func(*Report) {}, "", "", true},
		"something with finalizers": {func(r *Report) { r.Count("ns", widgets, left("a/b"), 0) },
			corev1.NamespaceFinalizersRemaining, "Some content in the namespace has finalizers remaining: a/b in 1 resource instances", false},
		"several kinds": {func(r *Report) { r.Count("ns", widgets, left("f"), 0); r.Count("ns", secrets, left("f"), 0) },
			corev1.NamespaceContentRemaining, "Some resources are remaining: secrets. has 1 resource instances, widgets.example.com has 1 resource instances", false},
		"something that should have gone": {func(r *Report) { r.Count("ns", secrets, left(), 0) },
			corev1.NamespaceDeletionContentFailure, "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: ns for gvr: /v1, Resource=secrets", false},
		"no discovery": {func(r *Report) { r.DiscoveryError = errors.New("down") },
			corev1.NamespaceDeletionDiscoveryFailure, "down", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := NewReport()
			c.report(report)
			if report.Empty() != c.empty {
				t.Errorf("empty is %v", report.Empty())
			}
			conditions := Conditions(nil, report, now)
			if len(conditions) != len(healthy) {
				t.Fatalf("%d conditions", len(conditions))
			}
			for _, condition := range conditions {
				if condition.Type == c.kind && (condition.Status != corev1.ConditionTrue || condition.Message != c.message) {
					t.Errorf("%s says %s %q, want %q", condition.Type, condition.Status, condition.Message, c.message)
				}
				if c.kind == "" && condition.Status != corev1.ConditionFalse {
					t.Errorf("%s is %s", condition.Type, condition.Status)
				}
			}
			later := Conditions(conditions, NewReport(), now.Add(time.Hour))
			for i := range later {
				changed := conditions[i].Status != later[i].Status
				if changed != later[i].LastTransitionTime.After(now) {
					t.Errorf("%s: transition at %v", later[i].Type, later[i].LastTransitionTime)
				}
			}
		})
	}
}

func TestPodsMayUseTheirGrace(t *testing.T) {
	t.Parallel()
	pod := func(seconds int64, phase corev1.PodPhase) corev1.Pod {
		return corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To(seconds)}, Status: corev1.PodStatus{Phase: phase}}
	}
	pods := []corev1.Pod{pod(30, corev1.PodRunning), pod(10, corev1.PodRunning), pod(600, corev1.PodSucceeded)}
	if got := Grace(pods, 12*time.Second); got != 18*time.Second {
		t.Errorf("12 s on, %v are left", got)
	}
	if got := Grace(pods, time.Minute); got != 0 {
		t.Errorf("a minute on, %v are left", got)
	}
	report := NewReport()
	report.Count("ns", podsResource, left(), 18*time.Second)
	if len(report.ContentErrors) != 0 || report.Empty() {
		t.Error("a pod within its grace is an error, or nothing")
	}
}

var podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func TestDelay(t *testing.T) {
	t.Parallel()
	if Delay(0) != 100*time.Millisecond || Delay(8*time.Second) != 2*time.Second || Delay(time.Hour) != 10*time.Second {
		t.Error("the wait grows with the time it takes, from 0.1 s to 10 s")
	}
}

func TestFinalized(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]bool{"": true, "kubernetes": false, "other": true, "kubernetes other": false} {
		namespace := &corev1.Namespace{}
		for _, finalizer := range strings.Fields(list) {
			namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, corev1.FinalizerName(finalizer))
		}
		if finalized(namespace) != want {
			t.Errorf("%q: finalized is %v", list, !want)
		}
	}
}
