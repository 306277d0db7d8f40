package tainteviction

import (
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Verdict is what happens to a pod on its node.
type Verdict struct {
	// Evict: delete it now.
	Evict bool
	// After: delete it when this much more time has passed; zero: it may stay.
	After time.Duration
}

// Decide judges a pod by its node's taints. since is when a taint without a time of its
// own was first seen.
func Decide(pod *corev1.Pod, taints []corev1.Taint, since, now time.Time) Verdict {
	if pod.DeletionTimestamp != nil || podstate.Finished(pod) {
		return Verdict{}
	}
	var verdict Verdict
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoExecute {
			continue
		}
		limited, seconds, tolerated := tolerance(pod, &taints[i])
		if !tolerated {
			return Verdict{Evict: true}
		}
		if !limited {
			continue
		}
		left := beginning(pod, &taints[i], since).Add(seconds).Sub(now)
		if left <= 0 {
			return Verdict{Evict: true}
		}
		if verdict.After == 0 || left < verdict.After {
			verdict.After = left
		}
	}
	return verdict
}

// tolerance says whether and for how long the pod tolerates a taint: the shortest of all
// tolerations that match and have a limit.
func tolerance(pod *corev1.Pod, taint *corev1.Taint) (limited bool, limit time.Duration, tolerated bool) {
	for i := range pod.Spec.Tolerations {
		toleration := &pod.Spec.Tolerations[i]
		if !toleration.ToleratesTaint(logr.Discard(), taint, false) {
			continue
		}
		tolerated = true
		if toleration.TolerationSeconds == nil {
			continue
		}
		seconds := time.Duration(max(0, *toleration.TolerationSeconds)) * time.Second
		if !limited || seconds < limit {
			limited, limit = true, seconds
		}
	}
	return limited, limit, tolerated
}

// beginning is when the taint came upon the pod.
func beginning(pod *corev1.Pod, taint *corev1.Taint, since time.Time) time.Time {
	begun := since
	if taint.TimeAdded != nil {
		begun = taint.TimeAdded.Time
	}
	if scheduled := podstate.Condition(pod, corev1.PodScheduled); scheduled != nil && scheduled.LastTransitionTime.After(begun) {
		begun = scheduled.LastTransitionTime.Time
	}
	if pod.CreationTimestamp.After(begun) {
		begun = pod.CreationTimestamp.Time
	}
	return begun
}
