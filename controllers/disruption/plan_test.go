package disruption

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testPod is healthy, and of the workload.
func testPod(name string, workload types.UID, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	if workload != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: workload, Controller: ptr.To(true)}}
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func unready(pod *corev1.Pod)  { pod.Status.Conditions = nil }
func deleting(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: testTime} }

func TestDecide(t *testing.T) {
	t.Parallel()
	three := []*corev1.Pod{testPod("a", "rs"), testPod("b", "rs"), testPod("c", "rs")}
	least := func(v intstr.IntOrString) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MinAvailable: &v}
	}
	most := func(v intstr.IntOrString) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &v}
	}
	granted := func(ago time.Duration) map[string]metav1.Time {
		return map[string]metav1.Time{"a": metav1.NewTime(testTime.Add(-ago))}
	}
	for name, c := range map[string]struct {
		spec                       policyv1.PodDisruptionBudgetSpec
		pods                       []*corev1.Pod
		granted                    map[string]metav1.Time
		allowed, desired, expected int32
		report                     string
	}{
		"two of three":                     {least(intstr.FromInt32(2)), three, nil, 1, 2, 3, ""},
		"half, rounded up":                 {least(intstr.FromString("50%")), three, nil, 1, 2, 3, ""},
		"one may be missing":               {most(intstr.FromInt32(1)), three, nil, 1, 2, 3, ""},
		"a third, rounded up":              {most(intstr.FromString("34%")), three, nil, 2, 1, 3, ""},
		"one is missing":                   {most(intstr.FromInt32(1)), three[:2], nil, 0, 2, 3, ""},
		"one isn't ready":                  {least(intstr.FromInt32(2)), []*corev1.Pod{three[0], three[1], testPod("c", "rs", unready)}, nil, 0, 2, 3, ""},
		"one is leaving":                   {least(intstr.FromInt32(2)), []*corev1.Pod{three[0], three[1], testPod("c", "rs", deleting)}, nil, 0, 2, 3, ""},
		"one is about to leave":            {least(intstr.FromInt32(2)), three, granted(time.Minute), 0, 2, 3, ""},
		"one should have left long ago":    {least(intstr.FromInt32(2)), three, granted(3 * time.Minute), 1, 2, 3, ""},
		"no pods, so nothing is allowed":   {least(intstr.FromInt32(0)), nil, nil, 0, 0, 0, "NoPods"},
		"unmanaged pods count as a number": {least(intstr.FromInt32(1)), []*corev1.Pod{testPod("a", ""), testPod("b", "")}, nil, 1, 1, 2, ""},
		"and can't be a share":             {most(intstr.FromInt32(1)), []*corev1.Pod{testPod("a", "")}, nil, 0, 0, 0, "UnmanagedPods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := &policyv1.PodDisruptionBudget{Spec: c.spec, Status: policyv1.PodDisruptionBudgetStatus{DisruptedPods: c.granted}}
			plan, err := Decide(Observed{Budget: budget, Pods: c.pods, Now: testTime,
				Scales: map[types.UID]Scale{"rs": {Workload: "deployment", Replicas: 3}}})
			if err != nil {
				t.Fatal(err)
			}
			if s := plan.Status; s.DisruptionsAllowed != c.allowed || s.DesiredHealthy != c.desired || s.ExpectedPods != c.expected {
				t.Errorf("status %+v", s)
			}
			if (c.report != "") != (len(plan.Reports) == 1) || c.report != "" && plan.Reports[0].Reason != c.report {
				t.Errorf("reports %v, want %q", plan.Reports, c.report)
			}
		})
	}
}

func TestWhatCannotBeToldAllowsNothing(t *testing.T) {
	t.Parallel()
	budget := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(1))},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}}
	_, err := Decide(Observed{Budget: budget, Pods: []*corev1.Pod{testPod("a", "gone")}, Now: testTime})
	if err == nil || !strings.Contains(err.Error(), `found no controllers for pod "a"`) {
		t.Fatalf("error %v", err)
	}
	status := Unknown(budget, errors.New("why"), testTime)
	if status.DisruptionsAllowed != 0 || status.Conditions[0].Reason != policyv1.SyncFailedReason || status.Conditions[0].Message != "why" {
		t.Errorf("status %+v", status)
	}
}
