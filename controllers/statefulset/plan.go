package statefulset

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Observed is everything that a decision about one StatefulSet rests on.
type Observed struct {
	Set *appsv1.StatefulSet
	// Pods are the set's own, named after it, whatever state they are in.
	Pods []*corev1.Pod
	// Claims are the claims that there are, by name.
	Claims map[string]*corev1.PersistentVolumeClaim
	// Current and Update are the revisions that an update goes from and to.
	Current, Update Revision
	// Collisions is how often the name of a revision was taken.
	Collisions int32
	Now        time.Time
}

// Revision is a version of the set's template.
type Revision struct {
	Name     string
	Template *corev1.PodTemplateSpec
}

// Plan is what to do about one StatefulSet in one pass.
type Plan struct {
	// Create are pods to make, each after the claims in Claims of its name.
	Create []*corev1.Pod
	Delete []*corev1.Pod
	// Update are pods that have lost who they are, as they shall be.
	Update []*corev1.Pod
	// Claims are the claims to make, by the name of the pod that needs them.
	Claims map[string][]*corev1.PersistentVolumeClaim
	// Owners are claims whose owners change, as they shall be.
	Owners []*corev1.PersistentVolumeClaim
	// Conflicts names claims that another controller manages.
	Conflicts []string
	Status    appsv1.StatefulSetStatus
	// CheckAfter is when the next ready pod becomes available; zero: none will.
	CheckAfter time.Duration
}

// pass is one decision in the making.
type pass struct {
	Observed
	Plan
	ordered bool
	// replicas has the pod of each ordinal that there shall be; those that there aren't
	// yet have no phase.
	replicas []*corev1.Pod
	// condemned are the pods of other ordinals, the highest first.
	condemned []*corev1.Pod
	// firstUnavailable is the pod of the lowest ordinal that isn't available.
	firstUnavailable *corev1.Pod
}

// Decide works out one pass. It changes nothing that it is given.
func Decide(observed Observed) Plan {
	p := &pass{Observed: observed, ordered: observed.Set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement}
	p.Plan.Claims = map[string][]*corev1.PersistentVolumeClaim{}
	p.sort()
	p.count()
	if observed.Set.DeletionTimestamp == nil && p.fill() && p.shrink() &&
		observed.Set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType {
		p.roll()
	}
	p.complete()
	p.checkAvailability()
	return p.Plan
}

// sort parts the pods into those that stay and those that go, and thinks up the missing.
func (p *pass) sort() {
	first := firstOrdinal(p.Set)
	p.replicas = make([]*corev1.Pod, *p.Set.Spec.Replicas)
	ordinals := map[*corev1.Pod]int{}
	for _, pod := range p.Pods {
		ordinal, ok := ordinalOf(p.Set, pod)
		switch {
		case !ok:
		case ordinal >= first && ordinal < first+len(p.replicas):
			p.replicas[ordinal-first] = pod
		default:
			ordinals[pod] = ordinal
			p.condemned = append(p.condemned, pod)
		}
	}
	slices.SortFunc(p.condemned, func(a, b *corev1.Pod) int { return cmp.Compare(ordinals[b], ordinals[a]) })
	for i := range p.replicas {
		if p.replicas[i] == nil {
			p.replicas[i] = p.missing(first + i)
		}
	}
	for _, pod := range slices.Concat(p.replicas, backwards(p.condemned)) {
		if p.firstUnavailable == nil && p.unavailable(pod) {
			p.firstUnavailable = pod
		}
	}
}

func backwards(pods []*corev1.Pod) []*corev1.Pod {
	pods = slices.Clone(pods)
	slices.Reverse(pods)
	return pods
}

// missing is the pod to be made for an ordinal. Below the partition it is of the revision
// that the update goes from: what dies there comes back as it was.
func (p *pass) missing(ordinal int) *corev1.Pod {
	strategy, keep := p.Set.Spec.UpdateStrategy, int32(0)
	if strategy.RollingUpdate != nil {
		keep = ptr.Deref(strategy.RollingUpdate.Partition, 0)
	} else if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		keep = p.Set.Status.CurrentReplicas
	}
	if ordinal < firstOrdinal(p.Set)+int(keep) {
		return newPod(p.Set, p.Current.Template, p.Current.Name, ordinal)
	}
	return newPod(p.Set, p.Observed.Update.Template, p.Observed.Update.Name, ordinal)
}

// count begins the status with what there is.
func (p *pass) count() {
	p.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: p.Set.Generation, CurrentRevision: p.Current.Name, UpdateRevision: p.Observed.Update.Name,
		CollisionCount: ptr.To(p.Collisions), Conditions: p.Set.Status.Conditions,
	}
	for _, pod := range p.Pods {
		if _, ok := ordinalOf(p.Set, pod); !ok {
			continue
		}
		p.Status.Replicas++
		if pod.Status.Phase == corev1.PodRunning && podstate.Ready(pod) {
			p.Status.ReadyReplicas++
			if p.available(pod) {
				p.Status.AvailableReplicas++
			}
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		if revisionOf(pod) == p.Current.Name {
			p.Status.CurrentReplicas++
		}
		if revisionOf(pod) == p.Observed.Update.Name {
			p.Status.UpdatedReplicas++
		}
	}
}

// fill goes up the ordinals. It says whether the pass may go on to the next step.
func (p *pass) fill() bool {
	for i, pod := range p.replicas {
		if goOn := p.keep(pod, firstOrdinal(p.Set)+i); !goOn && p.ordered {
			return false
		}
	}
	return true
}

// keep does what one pod needs, and says whether the ones after it may have their turn.
func (p *pass) keep(pod *corev1.Pod, ordinal int) bool {
	switch {
	case !isMade(pod):
		p.create(pod, ordinal)
		return false
	case podstate.Finished(pod):
		// Whatever its exit code: a pod that has a name is always there.
		if pod.DeletionTimestamp == nil {
			p.Delete = append(p.Delete, pod)
		}
		return false
	}
	if pod.Status.Phase == corev1.PodPending {
		p.claim(pod, ordinal)
	}
	if p.ordered && p.unavailable(pod) {
		return false
	}
	p.own(pod, ordinal, false)
	p.restore(pod, ordinal)
	return true
}

func (p *pass) create(pod *corev1.Pod, ordinal int) {
	for _, claim := range claimsOf(p.Set, ordinal) {
		if present := p.Observed.Claims[claim.Name]; present != nil && staleClaim(p.Set, pod, present) {
			return
		}
	}
	p.claim(pod, ordinal)
	p.Create = append(p.Create, pod)
}

// claim asks for the claims that the pod lacks.
func (p *pass) claim(pod *corev1.Pod, ordinal int) {
	for _, claim := range claimsOf(p.Set, ordinal) {
		if p.Observed.Claims[claim.Name] == nil {
			p.Plan.Claims[pod.Name] = append(p.Plan.Claims[pod.Name], claim)
		}
	}
}

// own sees to it that the pod's claims have the owners that they shall have.
func (p *pass) own(pod *corev1.Pod, ordinal int, condemned bool) {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		claim := p.Observed.Claims[claimName(p.Set, p.Set.Spec.VolumeClaimTemplates[i].Name, ordinal)]
		if claim == nil {
			continue
		}
		owners, changed, conflict := claimOwners(p.Set, pod, condemned, claim.OwnerReferences)
		if !changed {
			continue
		}
		if conflict {
			p.Conflicts = append(p.Conflicts, claim.Name)
		}
		claim = claim.DeepCopy()
		claim.OwnerReferences = owners
		p.Owners = append(p.Owners, claim)
	}
}

// restore gives back the name label that somebody took from a pod.
func (p *pass) restore(pod *corev1.Pod, ordinal int) {
	if pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name {
		return
	}
	next := pod.DeepCopy()
	identify(next, ordinal)
	p.Plan.Update = append(p.Plan.Update, next)
}

// shrink deletes what is beyond the ordinals wanted, the highest first, one at a time when
// the order counts. It says whether the pass may go on to the next step.
func (p *pass) shrink() bool {
	for _, pod := range p.condemned {
		ordinal, _ := ordinalOf(p.Set, pod)
		p.own(pod, ordinal, true)
	}
	for _, pod := range p.condemned {
		switch {
		case !p.ordered && pod.DeletionTimestamp != nil:
			continue
		case p.ordered && (pod.DeletionTimestamp != nil || !p.available(pod) && pod != p.firstUnavailable):
			return false
		}
		p.Delete = append(p.Delete, pod)
		if p.ordered {
			return false
		}
	}
	return true
}

// isMade says that the API server knows the pod.
func isMade(pod *corev1.Pod) bool { return pod.Status.Phase != "" }

func (p *pass) available(pod *corev1.Pod) bool {
	return podstate.Available(pod, p.Set.Spec.MinReadySeconds, p.Now)
}

func (p *pass) unavailable(pod *corev1.Pod) bool {
	return !p.available(pod) || pod.DeletionTimestamp != nil
}

// complete ends an update: what it went to is what the set is at.
func (p *pass) complete() {
	want := *p.Set.Spec.Replicas
	if s := &p.Status; s.UpdatedReplicas == want && s.ReadyReplicas == want && s.Replicas == want {
		s.CurrentReplicas, s.CurrentRevision = s.UpdatedReplicas, s.UpdateRevision
	}
}

func (p *pass) checkAvailability() {
	for _, pod := range p.Pods {
		if pod.DeletionTimestamp != nil || !podstate.Ready(pod) || p.available(pod) {
			continue
		}
		wait := podstate.AvailableAt(pod, p.Set.Spec.MinReadySeconds).Sub(p.Now)
		if p.CheckAfter == 0 || wait < p.CheckAfter {
			p.CheckAfter = wait
		}
	}
}

// isOwn says that a pod without a controller may become the set's.
func isOwn(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	_, member := ordinalOf(set, pod)
	return member || metav1.IsControlledBy(pod, set)
}
