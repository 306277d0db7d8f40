package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// A failed pod is replaced after minBackoff, doubled with each failure since the last
// success, up to maxBackoff. Upstream's figures.
const (
	minBackoff = 10 * time.Second
	maxBackoff = 10 * time.Minute
)

// Backoff is how many pods of a Job failed since one last succeeded, and when the last did.
type Backoff struct {
	Failures    int32
	LastFailure time.Time
}

// after is the backoff once more pods have ended.
func (b Backoff) after(succeeded, failed []*corev1.Pod) Backoff {
	var lastSuccess time.Time
	for _, pod := range succeeded {
		if at := finishedAt(pod); at.After(lastSuccess) {
			lastSuccess = at
		}
	}
	if len(succeeded) > 0 {
		b = Backoff{}
	}
	var last time.Time
	for _, pod := range failed {
		at := finishedAt(pod)
		if len(succeeded) > 0 && !at.After(lastSuccess) {
			continue
		}
		b.Failures++
		if at.After(last) {
			last = at
		}
	}
	if !last.IsZero() {
		b.LastFailure = last
	}
	return b
}

// remaining is how long no pod may be made yet.
func (b Backoff) remaining(now time.Time) time.Duration {
	if b.Failures == 0 {
		return 0
	}
	wait := minBackoff
	for i := int32(1); i < b.Failures && wait < maxBackoff; i++ {
		wait = min(2*wait, maxBackoff)
	}
	return max(0, wait-now.Sub(b.LastFailure))
}

// finishedAt is when a pod ended: when its last container did; else when it stopped being
// ready; else when it was asked to go; else, for want of anything better, its creation.
func finishedAt(pod *corev1.Pod) time.Time {
	if at := containersFinishedAt(pod); !at.IsZero() {
		return at
	}
	if ready := podstate.Condition(pod, corev1.PodReady); ready != nil && ready.Status == corev1.ConditionFalse && !ready.LastTransitionTime.IsZero() {
		return ready.LastTransitionTime.Time
	}
	if pod.DeletionTimestamp != nil {
		return pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	return pod.CreationTimestamp.Time
}

// containersFinishedAt is when the last container ended, sidecars included; zero while one
// hasn't.
func containersFinishedAt(pod *corev1.Pod) (last time.Time) {
	statuses := slices.Clone(pod.Status.ContainerStatuses)
	for _, status := range pod.Status.InitContainerStatuses {
		if podstate.Sidecar(pod, status.Name) {
			statuses = append(statuses, status)
		}
	}
	for _, status := range statuses {
		end := status.State.Terminated
		if end == nil || end.FinishedAt.IsZero() {
			return time.Time{}
		}
		if end.FinishedAt.After(last) {
			last = end.FinishedAt.Time
		}
	}
	return last
}
