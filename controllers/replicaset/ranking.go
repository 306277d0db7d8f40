package replicaset

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// rankForDeletion sorts pods so that those whose loss hurts least come first:
//
//  1. not assigned to a node
//  2. pending, then unknown, then running
//  3. not ready
//  4. lower pod-deletion-cost
//  5. more related pods on the same node
//  6. ready for less time (by powers of two, see age)
//  7. more restarts
//  8. younger (likewise)
//
// The order of the steps is upstream's; a step decides only what all before left equal.
func rankForDeletion(pods, related []*corev1.Pod, now time.Time) []*corev1.Pod {
	onNode := map[string]int{}
	for _, pod := range related {
		if podstate.Active(pod) {
			onNode[pod.Spec.NodeName]++
		}
	}
	ranked := slices.Clone(pods)
	slices.SortStableFunc(ranked, func(a, b *corev1.Pod) int {
		return cmp.Or(
			first(a.Spec.NodeName == "", b.Spec.NodeName == ""),
			cmp.Compare(phaseOrder[a.Status.Phase], phaseOrder[b.Status.Phase]),
			first(!podstate.Ready(a), !podstate.Ready(b)),
			cmp.Compare(deletionCost(a), deletionCost(b)),
			cmp.Compare(onNode[b.Spec.NodeName], onNode[a.Spec.NodeName]),
			byReadiness(a, b, now),
			byRestarts(a, b),
			byAge(a, b, a.CreationTimestamp.Time, b.CreationTimestamp.Time, now),
		)
	})
	return ranked
}

var phaseOrder = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

// first puts the pod of which the statement is true before the one of which it isn't.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// deletionCost reads the annotation; the API server has refused what is no number.
func deletionCost(pod *corev1.Pod) int64 {
	cost, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return cost
}

func byReadiness(a, b *corev1.Pod, now time.Time) int {
	if !podstate.Ready(a) || !podstate.Ready(b) {
		return 0
	}
	return byAge(a, b, podstate.ReadySince(a), podstate.ReadySince(b), now)
}

// byAge puts the younger first, but compares ages only by their power of two: among
// pods of about the same age the uid decides, which is as good as chance, so that the
// youngest aren't always the ones on the same node or in the same zone.
func byAge(a, b *corev1.Pod, since, other, now time.Time) int {
	switch {
	case since.Equal(other):
		return 0
	case since.IsZero() || other.IsZero():
		return first(since.IsZero(), other.IsZero())
	}
	return cmp.Or(
		cmp.Compare(magnitude(now.Sub(since)), magnitude(now.Sub(other))),
		cmp.Compare(a.UID, b.UID),
	)
}

func magnitude(age time.Duration) int64 {
	if age <= 0 {
		return -1
	}
	return int64(math.Log2(float64(age)))
}

func byRestarts(a, b *corev1.Pod) int {
	containersA, sidecarsA := restarts(a)
	containersB, sidecarsB := restarts(b)
	return cmp.Or(cmp.Compare(containersB, containersA), cmp.Compare(sidecarsB, sidecarsA))
}

// restarts gives the most restarts of any container, and of any sidecar.
func restarts(pod *corev1.Pod) (containers, sidecars int32) {
	for i := range pod.Status.ContainerStatuses {
		containers = max(containers, pod.Status.ContainerStatuses[i].RestartCount)
	}
	for i := range pod.Status.InitContainerStatuses {
		if status := &pod.Status.InitContainerStatuses[i]; podstate.Sidecar(pod, status.Name) {
			sidecars = max(sidecars, status.RestartCount)
		}
	}
	return containers, sidecars
}
