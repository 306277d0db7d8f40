package deployment

import (
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// wasResized says that a ReplicaSet with replicas was last sized for a Deployment of
// another size. Then the size changes first and the rollout goes on afterwards.
func (p *pass) wasResized() bool {
	for _, rs := range active(p.all()) {
		if desired, ok := sizeAnnotation(rs, desiredReplicasAnnotation); ok && desired != *p.deployment.Spec.Replicas {
			return true
		}
	}
	return false
}

// resize brings the ReplicaSets to the Deployment's size without moving the rollout:
// the only one with replicas gets them all; several keep their proportions.
func (p *pass) resize() {
	p.syncRevision()
	p.status = p.computeStatus()
	desired := *p.deployment.Spec.Replicas
	if only := p.onlyActiveOrLatest(); only != nil {
		p.scaleTo(only, desired, false)
		return
	}
	if p.saturated() {
		for _, rs := range p.oldSets {
			p.scaleTo(rs, 0, false)
		}
		return
	}
	if p.deployment.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		p.resizeInProportion()
	}
}

// onlyActiveOrLatest is the one ReplicaSet with replicas; when none has any, the
// newest; nil when several have.
func (p *pass) onlyActiveOrLatest() *appsv1.ReplicaSet {
	switch found := active(p.all()); {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		return nil
	case p.newSet != nil:
		return p.newSet
	case len(p.oldSets) > 0:
		return p.oldSets[len(p.oldSets)-1]
	}
	return nil
}

// saturated says that the new ReplicaSet has, and knows that it should have, every
// replica, and that all are available.
func (p *pass) saturated() bool {
	if p.newSet == nil {
		return false
	}
	desired := *p.deployment.Spec.Replicas
	meant, ok := sizeAnnotation(p.newSet, desiredReplicasAnnotation)
	return ok && meant == desired && *p.newSet.Spec.Replicas == desired &&
		p.newSet.Status.AvailableReplicas == desired
}

// resizeInProportion spreads the change over all active ReplicaSets by their share,
// the largest first; what rounding leaves over goes to the largest. Growing, the
// newer of two equals comes first; shrinking, the older.
//
// From 10 replicas (surge 3, sizes 8 and 5, so 13) to 30 (so 33): 20 to add; 8·33/13
// rounds to 20 (+12), 5·33/13 to 13 (+8).
func (p *pass) resizeInProportion() {
	sets := active(p.all())
	desired := *p.deployment.Spec.Replicas
	var allowed int32
	if desired > 0 {
		allowed = desired + maxSurge(p.deployment)
	}
	toAdd := allowed - specReplicas(sets)
	switch {
	case toAdd > 0:
		slices.SortFunc(sets, bySizeThen(-1))
	case toAdd < 0:
		slices.SortFunc(sets, bySizeThen(1))
	}
	sizes := make([]int32, len(sets))
	var added int32
	for i, rs := range sets {
		share := p.share(rs, toAdd, added)
		sizes[i] = *rs.Spec.Replicas + share
		added += share
	}
	if len(sets) > 0 {
		sizes[0] = max(0, sizes[0]+toAdd-added)
	}
	for i, rs := range sets {
		p.scaleTo(rs, sizes[i], true)
	}
}

// share is how much of toAdd one ReplicaSet takes, never more than is left of it.
func (p *pass) share(rs *appsv1.ReplicaSet, toAdd, added int32) int32 {
	left := toAdd - added
	switch {
	case left == 0:
		return 0
	case toAdd > 0:
		return min(p.growth(rs), left)
	}
	return max(p.growth(rs), left)
}

// growth is by how much a ReplicaSet grows when it keeps its part of the whole, the
// whole having been what its max-replicas annotation says.
func (p *pass) growth(rs *appsv1.ReplicaSet) int32 {
	desired, size := *p.deployment.Spec.Replicas, *rs.Spec.Replicas
	if desired == 0 {
		return -size
	}
	before, ok := sizeAnnotation(rs, maxReplicasAnnotation)
	if !ok || before == 0 {
		if before = p.deployment.Status.Replicas; before == 0 {
			return 0
		}
	}
	whole := float64(size) * float64(desired+maxSurge(p.deployment))
	return int32(math.Round(whole/float64(before))) - size
}
