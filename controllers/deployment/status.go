package deployment

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// computeStatus sums up the ReplicaSets as they were found, before anything that this
// pass changes.
func (p *pass) computeStatus() appsv1.DeploymentStatus {
	d, all := p.deployment, p.all()
	available := availableReplicas(all)
	status := appsv1.DeploymentStatus{
		ObservedGeneration:  d.Generation,
		AvailableReplicas:   available,
		UnavailableReplicas: max(0, specReplicas(all)-available),
		CollisionCount:      d.Status.CollisionCount,
		TerminatingReplicas: terminatingReplicas(all),
		Conditions:          slices.Clone(d.Status.Conditions),
	}
	for _, rs := range all {
		status.Replicas += rs.Status.Replicas
		status.ReadyReplicas += rs.Status.ReadyReplicas
	}
	if p.newSet != nil {
		status.UpdatedReplicas = p.newSet.Status.Replicas
	}
	if available >= *d.Spec.Replicas-maxUnavailable(d) {
		setCondition(&status, newCondition(appsv1.DeploymentAvailable, corev1.ConditionTrue,
			reasonMinimumMet, "Deployment has minimum availability.", p.now))
	} else {
		setCondition(&status, newCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse,
			reasonMinimumMissed, "Deployment does not have minimum availability.", p.now))
	}
	return status
}

// terminatingReplicas is unknown (nil) while one ReplicaSet that has been looked at
// doesn't report its share.
func terminatingReplicas(sets []*appsv1.ReplicaSet) *int32 {
	var sum int32
	for _, rs := range sets {
		switch {
		case rs.Status.TerminatingReplicas != nil:
			sum += *rs.Status.TerminatingReplicas
		case rs.Status.ObservedGeneration != 0:
			return nil
		}
	}
	return &sum
}

// complete says that status describes a finished rollout: every replica is of the
// newest template and available, and no other is left.
func complete(d *appsv1.Deployment, status *appsv1.DeploymentStatus) bool {
	desired := *d.Spec.Replicas
	return status.UpdatedReplicas == desired && status.Replicas == desired &&
		status.AvailableReplicas == desired && status.ObservedGeneration >= d.Generation
}

// moved says that status is further than what the Deployment showed before: more new
// replicas, fewer old ones, or more ready or available ones.
func moved(before, status *appsv1.DeploymentStatus) bool {
	return status.UpdatedReplicas > before.UpdatedReplicas ||
		status.Replicas-status.UpdatedReplicas < before.Replicas-before.UpdatedReplicas ||
		status.ReadyReplicas > before.ReadyReplicas ||
		status.AvailableReplicas > before.AvailableReplicas
}

// rolloutStatus is computeStatus with the progress of the rollout.
func (p *pass) rolloutStatus() {
	p.status = p.computeStatus()
	d := p.deployment
	if !hasDeadline(d) {
		removeCondition(&p.status, appsv1.DeploymentProgressing)
	} else {
		p.reportProgress()
	}
	if failure := p.replicaFailure(); failure != nil {
		setCondition(&p.status, *failure)
	} else {
		removeCondition(&p.status, appsv1.DeploymentReplicaFailure)
	}
	p.checkAfter = p.untilDeadline()
}

// reportProgress updates the Progressing condition unless the rollout has been
// reported as complete and still is: then this pass is no rollout at all.
func (p *pass) reportProgress() {
	d, subject := p.deployment, fmt.Sprintf("Deployment %q", p.deployment.Name)
	if p.newSet != nil {
		subject = fmt.Sprintf("ReplicaSet %q", p.newSet.Name)
	}
	current := condition(&d.Status, appsv1.DeploymentProgressing)
	done := newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue,
		reasonAvailable, subject+" has successfully progressed.", p.now)
	if current != nil && current.Reason == reasonAvailable && p.status.Replicas == p.status.UpdatedReplicas {
		// Whoever created the newest ReplicaSet may have ended before it said so; then this is still about another one.
		if current.Message == done.Message || !complete(d, &p.status) {
			return
		}
		removeCondition(&p.status, appsv1.DeploymentProgressing)
	}
	switch {
	case complete(d, &p.status):
		setCondition(&p.status, done)
	case moved(&d.Status, &p.status):
		// Unlike others this condition is renewed for the same reason too: its update
		// time is when progress was last seen.
		next := newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue,
			reasonUpdated, subject+" is progressing.", p.now)
		if current != nil && current.Status == corev1.ConditionTrue {
			next.LastTransitionTime = current.LastTransitionTime
		}
		removeCondition(&p.status, appsv1.DeploymentProgressing)
		p.status.Conditions = append(p.status.Conditions, next)
	case p.timedOut():
		setCondition(&p.status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse,
			reasonTimedOut, subject+" has timed out progressing.", p.now))
	}
}

func (p *pass) timedOut() bool {
	current := condition(&p.status, appsv1.DeploymentProgressing)
	switch {
	case current == nil, current.Reason == reasonAvailable:
		// Nothing to measure from: the last rollout's end says nothing about this one.
		return false
	case current.Reason == reasonTimedOut:
		return true
	}
	return current.LastUpdateTime.Add(p.deadline()).Before(p.now)
}

func (p *pass) deadline() time.Duration {
	return time.Duration(*p.deployment.Spec.ProgressDeadlineSeconds) * time.Second
}

// untilDeadline is when to look for a missed deadline, given that nothing else will
// wake us: last progress 3 min ago and a deadline of 10 min give 7 min, and a second
// more since the condition's times have no fractions. Zero when there is no need.
func (p *pass) untilDeadline() time.Duration {
	current := condition(&p.status, appsv1.DeploymentProgressing)
	if !hasDeadline(p.deployment) || current == nil ||
		complete(p.deployment, &p.status) || current.Reason == reasonTimedOut {
		return 0
	}
	return max(0, current.LastUpdateTime.Add(p.deadline()).Sub(p.now)) + time.Second
}

// replicaFailure is the first complaint of a ReplicaSet, the newest one's before
// others', as a condition of the Deployment.
func (p *pass) replicaFailure() *appsv1.DeploymentCondition {
	sets := p.oldSets
	if p.newSet != nil {
		sets = append([]*appsv1.ReplicaSet{p.newSet}, sets...)
	}
	for _, rs := range sets {
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				return &appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: c.Status, Reason: c.Reason, Message: c.Message,
					LastTransitionTime: c.LastTransitionTime, LastUpdateTime: c.LastTransitionTime,
				}
			}
		}
	}
	return nil
}
