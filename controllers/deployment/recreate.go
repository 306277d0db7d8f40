package deployment

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// recreate ends every old pod before it makes the first new one. The new ReplicaSet
// isn't even created before: a ReplicaSet with replicas would start at once.
func (p *pass) recreate(pods map[types.UID][]*corev1.Pod) {
	p.syncRevision()
	shrinking := active(p.oldSets)
	if len(shrinking) > 0 || p.oldPodsRun(pods) {
		p.rolloutStatus()
		for _, rs := range shrinking {
			p.scaleTo(rs, 0, false)
		}
		return
	}
	p.ensureNewSet()
	p.rolloutStatus()
	p.scaleTo(p.newSet, *p.deployment.Spec.Replicas, false)
	if complete(p.deployment, &p.deployment.Status) {
		p.cleanUp()
	}
}

// oldPodsRun says that an old ReplicaSet has pods, by its own count or by looking:
// pods being deleted count until they are gone, finished ones don't.
func (p *pass) oldPodsRun(pods map[types.UID][]*corev1.Pod) bool {
	for _, rs := range p.oldSets {
		if rs.Status.Replicas > 0 {
			return true
		}
		for _, pod := range pods[rs.UID] {
			if !podstate.Finished(pod) {
				return true
			}
		}
	}
	return false
}
