package job

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// surplus picks the pods to delete: all that have no place in the Job, all but one of each
// index, and, if that isn't enough, those whose loss hurts least.
func surplus(job *batchv1.Job, active []*corev1.Pod, atLeast int) []*corev1.Pod {
	ranked := slices.Clone(active)
	slices.SortStableFunc(ranked, cheapestFirst)
	var leave, stay []*corev1.Pod
	seen := map[int]bool{}
	for _, pod := range slices.Backward(ranked) {
		index := indexOf(pod)
		if indexed(job) && (!placed(job, pod) || seen[index]) {
			leave = append(leave, pod)
			continue
		}
		seen[index] = true
		stay = append(stay, pod)
	}
	slices.Reverse(stay)
	if more := atLeast - len(leave); more > 0 {
		leave = append(leave, stay[:min(more, len(stay))]...)
	}
	return leave
}

var phaseOrder = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

// cheapestFirst is upstream's order: not on a node, then pending, then not ready, then
// ready for less time, then more restarts, then younger.
func cheapestFirst(a, b *corev1.Pod) int {
	return cmp.Or(
		falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseOrder[a.Status.Phase], phaseOrder[b.Status.Phase]),
		falseFirst(podstate.Ready(a), podstate.Ready(b)),
		youngerFirst(podstate.ReadySince(a), podstate.ReadySince(b)),
		cmp.Compare(mostRestarts(b), mostRestarts(a)),
		youngerFirst(a.CreationTimestamp.Time, b.CreationTimestamp.Time),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// youngerFirst puts the later time first, and no time before any.
func youngerFirst(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return falseFirst(!a.IsZero(), !b.IsZero())
	}
	return b.Compare(a)
}

func mostRestarts(pod *corev1.Pod) (most int32) {
	for i := range pod.Status.ContainerStatuses {
		most = max(most, pod.Status.ContainerStatuses[i].RestartCount)
	}
	return most
}
