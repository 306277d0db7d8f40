package replicaset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Observed is everything that a decision about one ReplicaSet rests on.
type Observed struct {
	ReplicaSet *appsv1.ReplicaSet
	// Active are the pods that the ReplicaSet owns, neither finished nor being deleted.
	Active []*corev1.Pod
	// Terminating are owned, matching pods that are being deleted.
	Terminating []*corev1.Pod
	// Related are the pods of all ReplicaSets with the same owner, this one's included:
	// of two pods, the one with more of them on its node goes first.
	Related []*corev1.Pod
	Now     time.Time
}

// Plan is what to do about one ReplicaSet in one pass.
type Plan struct {
	// Create is how many pods to make.
	Create int
	// Delete are the pods to delete.
	Delete []*corev1.Pod
	// Missing is how many pods there are too few (negative: too many), before the plan.
	Missing int
	// CheckAfter is when the next ready pod becomes available; zero: none will.
	CheckAfter time.Duration
}

// Decide works out one pass. It changes nothing that it is given.
func Decide(observed Observed) Plan {
	rs := observed.ReplicaSet
	plan := Plan{Missing: int(*rs.Spec.Replicas) - len(observed.Active)}
	plan.CheckAfter = nextAvailable(observed)
	switch {
	case rs.DeletionTimestamp != nil:
	case plan.Missing > 0:
		plan.Create = min(plan.Missing, podcontrol.Burst)
	case plan.Missing < 0:
		ranked := rankForDeletion(observed.Active, observed.Related, observed.Now)
		plan.Delete = ranked[:min(-plan.Missing, podcontrol.Burst)]
	}
	return plan
}

// nextAvailable is how long it takes until a ready pod has been ready long enough.
func nextAvailable(observed Observed) (after time.Duration) {
	minReady := observed.ReplicaSet.Spec.MinReadySeconds
	if minReady == 0 {
		return 0
	}
	for _, pod := range observed.Active {
		if !podstate.Ready(pod) || podstate.Available(pod, minReady, observed.Now) {
			continue
		}
		wait := podstate.AvailableAt(pod, minReady).Sub(observed.Now)
		if after == 0 || wait < after {
			after = wait
		}
	}
	return after
}

// Status is what the ReplicaSet shall show, given what became of the plan: failure is
// the first error of creating or deleting, nil when all went well. The pods counted are
// those observed; the ones just made count once they are seen.
func Status(observed Observed, plan Plan, failure error) appsv1.ReplicaSetStatus {
	rs := observed.ReplicaSet
	status := *rs.Status.DeepCopy()
	status.ObservedGeneration = rs.Generation
	status.Replicas = int32(len(observed.Active))
	status.TerminatingReplicas = ptr.To(int32(len(observed.Terminating)))
	status.FullyLabeledReplicas, status.ReadyReplicas, status.AvailableReplicas = 0, 0, 0
	template := labels.SelectorFromValidatedSet(rs.Spec.Template.Labels)
	for _, pod := range observed.Active {
		if template.Matches(labels.Set(pod.Labels)) {
			status.FullyLabeledReplicas++
		}
		if podstate.Ready(pod) {
			status.ReadyReplicas++
		}
		if podstate.Available(pod, rs.Spec.MinReadySeconds, observed.Now) {
			status.AvailableReplicas++
		}
	}
	setFailure(&status, plan, failure, observed.Now)
	return status
}

// Sort parts a ReplicaSet's candidates into those that it may count (once it has claimed
// them) and those of its own that are on their way out.
func Sort(rs *appsv1.ReplicaSet, selector labels.Selector, candidates []*corev1.Pod) (active, terminating []*corev1.Pod) {
	for _, pod := range candidates {
		switch {
		case podstate.Active(pod):
			active = append(active, pod)
		case podstate.Terminating(pod) && metav1.IsControlledBy(pod, rs) && selector.Matches(labels.Set(pod.Labels)):
			terminating = append(terminating, pod)
		}
	}
	return active, terminating
}
