package tainteviction

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(now.Add(-d))) }
	taint := func(key string, added *metav1.Time) corev1.Taint {
		return corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: added}
	}
	tolerate := func(key string, seconds *int64) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds}
	}
	for name, c := range map[string]struct {
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		scheduled   time.Duration // before now
		want        Verdict
	}{
		"no taint":               {nil, nil, time.Hour, Verdict{}},
		"only NoSchedule":        {[]corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}, nil, time.Hour, Verdict{}},
		"not tolerated":          {[]corev1.Taint{taint("a", ago(0))}, nil, time.Hour, Verdict{Evict: true}},
		"tolerated for good":     {[]corev1.Taint{taint("a", ago(0))}, []corev1.Toleration{tolerate("a", nil)}, time.Hour, Verdict{}},
		"for a while":            {[]corev1.Taint{taint("a", ago(100*time.Second))}, []corev1.Toleration{tolerate("a", ptr.To[int64](300))}, time.Hour, Verdict{After: 200 * time.Second}},
		"no longer":              {[]corev1.Taint{taint("a", ago(301*time.Second))}, []corev1.Toleration{tolerate("a", ptr.To[int64](300))}, time.Hour, Verdict{Evict: true}},
		"counted from its start": {[]corev1.Taint{taint("a", ago(time.Hour))}, []corev1.Toleration{tolerate("a", ptr.To[int64](300))}, 10 * time.Second, Verdict{After: 290 * time.Second}},
		"negative is zero":       {[]corev1.Taint{taint("a", ago(0))}, []corev1.Toleration{tolerate("a", ptr.To[int64](-1))}, 0, Verdict{Evict: true}},
		"the shortest counts":    {[]corev1.Taint{taint("a", ago(0))}, []corev1.Toleration{tolerate("a", ptr.To[int64](300)), tolerate("a", ptr.To[int64](60)), tolerate("", nil)}, 0, Verdict{After: time.Minute}},
		"one of two not":         {[]corev1.Taint{taint("a", ago(0)), taint("b", ago(0))}, []corev1.Toleration{tolerate("a", nil)}, 0, Verdict{Evict: true}},
		"a taint without a time": {[]corev1.Taint{taint("a", nil)}, []corev1.Toleration{tolerate("a", ptr.To[int64](300))}, time.Hour, Verdict{After: 270 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: corev1.PodSpec{Tolerations: c.tolerations}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *ago(c.scheduled)}}
			if got := Decide(pod, c.taints, now.Add(-30*time.Second), now); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
