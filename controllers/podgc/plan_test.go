package podgc

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestFail(t *testing.T) {
	t.Parallel()
	for phase, want := range map[corev1.PodPhase]corev1.PodPhase{
		corev1.PodPending: corev1.PodFailed, corev1.PodRunning: corev1.PodFailed,
		corev1.PodSucceeded: corev1.PodSucceeded, corev1.PodFailed: corev1.PodFailed,
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		finished := phase == corev1.PodSucceeded || phase == corev1.PodFailed
		if changed := Fail(pod, time.Now()); changed == finished || pod.Status.Phase != want {
			t.Errorf("%s: changed %v, now %s, want %s", phase, changed, pod.Status.Phase, want)
		}
		if finished != (len(pod.Status.Conditions) == 0) {
			t.Errorf("%s: conditions %v", phase, pod.Status.Conditions)
		}
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	if Wait(0) != quarantine || Wait(quarantine-1) != 1 || Wait(time.Hour) != 0 {
		t.Error("a node is waited for until it has been missing for the quarantine")
	}
}
