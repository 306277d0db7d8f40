package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// roll deletes pods of other revisions from the highest ordinal down to the partition, so
// that no more than maxUnavailable are unavailable; filling makes them anew. When the order
// doesn't count, pods that are unavailable anyway go first: nothing is lost with them, and
// the budget is left to those that serve.
func (p *pass) roll() {
	lowest, budget := p.bounds()
	for _, pod := range p.replicas {
		if p.unavailable(pod) {
			budget--
		}
	}
	if !p.ordered {
		p.replace(lowest, len(p.replicas), func(pod *corev1.Pod) bool { return !p.available(pod) })
		p.replace(lowest, budget, p.available)
		return
	}
	p.replace(lowest, budget, func(*corev1.Pod) bool { return true })
}

// replace deletes at most count of the outdated pods that are eligible.
func (p *pass) replace(lowest, count int, eligible func(*corev1.Pod) bool) {
	for i := len(p.replicas) - 1; i >= lowest && count > 0; i-- {
		pod := p.replicas[i]
		if !isMade(pod) || pod.DeletionTimestamp != nil || revisionOf(pod) == p.Observed.Update.Name || !eligible(pod) {
			continue
		}
		p.Delete = append(p.Delete, pod)
		if revisionOf(pod) == p.Current.Name {
			p.Status.CurrentReplicas--
		}
		count--
	}
}

// bounds are the index below which pods stay as they are, and how many may be unavailable:
// a percentage is rounded down, and never less than one.
func (p *pass) bounds() (lowest, maxUnavailable int) {
	rolling := p.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || p.Set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return 0, 1
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(
		intstr.ValueOrDefault(rolling.MaxUnavailable, intstr.FromInt32(1)), len(p.replicas), false)
	if err != nil {
		most = 1 // validation lets nothing through that can't be read
	}
	return int(ptr.Deref(rolling.Partition, 0)), max(1, most)
}
