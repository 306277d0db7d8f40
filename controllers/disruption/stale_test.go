package disruption

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

func marked(reason string, ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: reason, Message: "because", LastTransitionTime: metav1.NewTime(testTime.Add(-ago))})
	}
}

func TestStaleAfter(t *testing.T) {
	t.Parallel()
	ended := func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		wait   time.Duration
		marked bool
	}{
		"not marked":            {testPod("a", ""), 0, false},
		"fresh":                 {testPod("a", "", marked("EvictionByEvictionAPI", time.Minute)), time.Minute, true},
		"stale":                 {testPod("a", "", marked("EvictionByEvictionAPI", 3*time.Minute)), 0, true},
		"marked by the kubelet": {testPod("a", "", marked(corev1.PodReasonTerminationByKubelet, time.Hour)), 0, false},
		"on its way out":        {testPod("a", "", marked("x", time.Hour), deleting), 0, false},
		"ended":                 {testPod("a", "", marked("x", time.Hour), ended), 0, false},
	} {
		if wait, marked := staleAfter(c.pod, testTime); wait != c.wait || marked != c.marked {
			t.Errorf("%s: %s, %v", name, wait, marked)
		}
	}
	next := unmark(testPod("a", "", marked("x", time.Hour)), testTime)
	if mark := podstate.Condition(next, corev1.DisruptionTarget); mark.Status != corev1.ConditionFalse || mark.Reason != "" || !mark.LastTransitionTime.Time.Equal(testTime) {
		t.Errorf("mark %+v", mark)
	}
}
