package deployment

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observed is everything that a decision about one Deployment rests on.
type Observed struct {
	Deployment *appsv1.Deployment
	// ReplicaSets are those that the Deployment owns, in any order.
	ReplicaSets []*appsv1.ReplicaSet
	// Pods are the pods of each ReplicaSet, by its uid. Only Recreate looks at them.
	Pods map[types.UID][]*corev1.Pod
	Now  time.Time
}

// Plan is what to do about one Deployment in one pass.
type Plan struct {
	// Create is the ReplicaSet of the newest template, when there is none yet.
	Create *appsv1.ReplicaSet
	// Writes change ReplicaSets that exist, in this order.
	Writes []Write
	// Deletes are old revisions beyond the history limit.
	Deletes []*appsv1.ReplicaSet
	// Status and Revision are what the Deployment shall show, should they differ
	// from what it shows. Revision is an annotation; it travels with the status.
	Status   appsv1.DeploymentStatus
	Revision string
	// CheckAfter is when to look whether the deadline has passed; zero: not needed.
	CheckAfter time.Duration
	// SelectsAll says that the selector is empty, so that nothing else was planned.
	SelectsAll bool
}

// Write is one change of one ReplicaSet.
type Write struct{ Before, After *appsv1.ReplicaSet }

// Decide works out one pass over a Deployment. It changes nothing that it is given.
func Decide(observed Observed) Plan {
	p := newPass(observed)
	if selectsAll(p.deployment) {
		status := p.deployment.Status
		status.ObservedGeneration = max(status.ObservedGeneration, p.deployment.Generation)
		return Plan{SelectsAll: true, Status: status, Revision: p.deployment.Annotations[revisionAnnotation]}
	}
	p.findReplicaSets()
	switch {
	case p.deployment.DeletionTimestamp != nil:
		p.syncRevision()
		p.status = p.computeStatus()
		return p.plan()
	case p.deployment.Spec.Paused:
		p.recordPause()
		p.resize()
		p.cleanUp()
		return p.plan()
	}
	p.recordPause()
	if p.wasResized() {
		p.resize()
		return p.plan()
	}
	if p.deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		p.recreate(observed.Pods)
	} else {
		p.roll()
	}
	return p.plan()
}

func selectsAll(d *appsv1.Deployment) bool {
	s := d.Spec.Selector
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// pass is the working state of one Decide: copies, which the steps change at will.
// What to write is the difference between the copies and the originals.
type pass struct {
	now        time.Time
	deployment *appsv1.Deployment
	// status is what the Deployment shall show in the end.
	status   appsv1.DeploymentStatus
	revision string

	// newSet is the ReplicaSet of the present template; nil while there is none.
	newSet *appsv1.ReplicaSet
	// oldSets are all others, oldest first.
	oldSets   []*appsv1.ReplicaSet
	originals map[types.UID]*appsv1.ReplicaSet

	deletes    []*appsv1.ReplicaSet
	checkAfter time.Duration
}

func newPass(observed Observed) *pass {
	p := &pass{
		now:        observed.Now,
		deployment: observed.Deployment.DeepCopy(),
		originals:  make(map[types.UID]*appsv1.ReplicaSet, len(observed.ReplicaSets)),
	}
	for _, rs := range observed.ReplicaSets {
		p.originals[rs.UID] = rs
		p.oldSets = append(p.oldSets, rs.DeepCopy())
	}
	slices.SortFunc(p.oldSets, byAge)
	p.status = p.deployment.Status
	p.revision = p.deployment.Annotations[revisionAnnotation]
	return p
}

// all gives every ReplicaSet, old ones first.
func (p *pass) all() []*appsv1.ReplicaSet {
	all := slices.Clone(p.oldSets)
	if p.newSet != nil {
		all = append(all, p.newSet)
	}
	return all
}

// plan reads off what has changed.
func (p *pass) plan() Plan {
	plan := Plan{Status: p.status, Revision: p.revision, Deletes: p.deletes, CheckAfter: p.checkAfter}
	for _, rs := range p.all() {
		before, exists := p.originals[rs.UID]
		switch {
		case !exists:
			plan.Create = rs
		case replicaSetChanged(before, rs):
			plan.Writes = append(plan.Writes, Write{Before: before, After: rs})
		}
	}
	// The new one is written first: upstream scales up before it scales down.
	slices.SortStableFunc(plan.Writes, func(a, b Write) int {
		return rank(a.After == p.newSet) - rank(b.After == p.newSet)
	})
	return plan
}

func rank(isNew bool) int {
	if isNew {
		return 0
	}
	return 1
}
