package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestSummary: what kubectl shows in its READY and STATUS columns.
func TestSummary(t *testing.T) {
	t.Parallel()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	exited := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
	}
	always := corev1.ContainerRestartPolicyAlways
	for _, c := range []struct {
		name         string
		pod          corev1.Pod
		reason       string
		ready, total int
	}{
		{"new", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, "Pending", 0, 1},
		{"being created", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{State: waiting("ContainerCreating")}}}}, "ContainerCreating", 0, 1},
		{"running", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{State: running, Ready: true}}}}, "Running", 1, 1},
		{"crashing", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{State: waiting("CrashLoopBackOff")}}}}, "CrashLoopBackOff", 0, 1},
		{"done", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{State: exited(0, "Completed")}}}}, "Completed", 0, 1},
		{"failed without a word", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{State: exited(3, "")}}}}, "ExitCode:3", 0, 1},
		{"evicted", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}, "Evicted", 0, 1},
		{"going", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.Now())}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, "Terminating", 0, 1},
		{"initializing", corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "a"}, {Name: "b"}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: exited(0, "Completed")}, {Name: "b", State: running}}}}, "Init:1/2", 0, 1},
		{"init failed", corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "a"}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: exited(1, "Error")}}}}, "Init:Error", 0, 1},
		{"with a sidecar", corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "s", RestartPolicy: &always}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, InitContainerStatuses: []corev1.ContainerStatus{{Name: "s", State: running, Started: ptr.To(true), Ready: true}},
				ContainerStatuses: []corev1.ContainerStatus{{State: running, Ready: true}}}}, "Running", 2, 2},
	} {
		c.pod.Spec.Containers = []corev1.Container{{Name: "c"}}
		s := summarize(&c.pod)
		if s.reason != c.reason || s.ready != c.ready || s.total != c.total {
			t.Errorf("%s: %s %d/%d, want %s %d/%d", c.name, s.reason, s.ready, s.total, c.reason, c.ready, c.total)
		}
	}
}
