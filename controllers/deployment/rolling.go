package deployment

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// roll moves a rolling update one step on: up if there is room, else down if there is
// enough available, else it tidies a finished rollout.
func (p *pass) roll() {
	p.ensureNewSet()
	p.rolloutStatus()
	if p.growNew() {
		return
	}
	if p.shrinkOld() {
		return
	}
	if complete(p.deployment, &p.deployment.Status) {
		p.cleanUp()
	}
}

// ensureNewSet plans the new ReplicaSet if there is none, notes that in the Progressing
// condition, and brings its revision up to date.
func (p *pass) ensureNewSet() {
	if p.newSet == nil {
		p.makeNewSet()
		d := p.deployment
		desired := *d.Spec.Replicas
		setSizeAnnotations(p.newSet, desired, desired+maxSurge(d))
		if hasDeadline(d) {
			setCondition(&d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue,
				reasonCreated, fmt.Sprintf("Created new replica set %q", p.newSet.Name), p.now))
		}
	}
	p.syncRevision()
}

// growNew sizes the new ReplicaSet: down when the Deployment became smaller, up as far
// as the surge allows.
func (p *pass) growNew() (scaled bool) {
	desired, current := *p.deployment.Spec.Replicas, *p.newSet.Spec.Replicas
	switch {
	case current == desired:
		return false
	case current > desired:
		return p.scaleTo(p.newSet, desired, false)
	}
	return p.scaleTo(p.newSet, p.newSetReplicas(), false)
}

// shrinkOld takes replicas from the old ReplicaSets: first those that aren't available
// anyway, since they would block the rollout, then as many as there are available
// beyond the minimum.
//
// What may go at most is all replicas less the minimum less those of the new set that
// aren't available yet; these may still fail. 10 replicas, 2 unavailable, 3 surge, so
// at least 8: with new 5 (none available) and old 8 it is 13-8-5 = 0, and nothing goes,
// even if an old one fails meanwhile. Undone, the crashing 5 are the old ones and the 8
// the new ones, one not available: 13-8-1 = 4 of the five may go at once.
func (p *pass) shrinkOld() (scaled bool) {
	old := active(p.oldSets)
	minimum := *p.deployment.Spec.Replicas - maxUnavailable(p.deployment)
	pendingNew := *p.newSet.Spec.Replicas - p.newSet.Status.AvailableReplicas
	most := specReplicas(p.all()) - minimum - pendingNew
	if len(old) == 0 || most <= 0 {
		return false
	}
	broken := p.dropUnavailable(old, most)
	dropped := p.dropAvailable(old, availableReplicas(append(old, p.newSet))-minimum)
	return broken+dropped > 0
}

// dropUnavailable shrinks by what is not available, up to most replicas in all.
func (p *pass) dropUnavailable(sets []*appsv1.ReplicaSet, most int32) (dropped int32) {
	for _, rs := range sets {
		size := *rs.Spec.Replicas
		drop := min(most-dropped, size-rs.Status.AvailableReplicas)
		if drop <= 0 {
			continue
		}
		p.scaleTo(rs, size-drop, false)
		dropped += drop
	}
	return dropped
}

// dropAvailable shrinks the oldest first, up to most replicas in all.
func (p *pass) dropAvailable(sets []*appsv1.ReplicaSet, most int32) (dropped int32) {
	for _, rs := range sets {
		drop := min(most-dropped, *rs.Spec.Replicas)
		if drop <= 0 {
			continue
		}
		p.scaleTo(rs, *rs.Spec.Replicas-drop, false)
		dropped += drop
	}
	return dropped
}
