package daemonset

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// roll takes an update one step further. Without surge it deletes old pods, as many as may
// be unavailable, and the next pass makes new ones. With surge it makes new pods beside the
// old ones first. Old pods that aren't available are replaced whatever the bounds: nothing
// is lost with them.
func (p *pass) roll() {
	maxSurge, maxUnavailable, desired := p.bounds()
	if maxSurge == 0 {
		p.rollInPlace(maxUnavailable)
		return
	}
	p.rollSurging(maxSurge, desired)
}

// bounds works out maxSurge and maxUnavailable, percentages of the nodes that shall have a
// pod rounded up; both zero would never get anywhere and counts as one unavailable. Nodes
// that have no pod get an empty entry, and so count.
func (p *pass) bounds() (maxSurge, maxUnavailable, desired int) {
	for _, node := range p.Nodes {
		if run, _ := p.fit.on(node); run {
			desired++
			if _, exists := p.byNode[node.Name]; !exists {
				p.byNode[node.Name] = nil
			}
		}
	}
	if rolling := p.Set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		maxSurge = scaled(rolling.MaxSurge, desired)
		maxUnavailable = scaled(rolling.MaxUnavailable, desired)
	}
	if maxSurge == 0 && maxUnavailable == 0 && desired > 0 {
		maxUnavailable = 1
	}
	return maxSurge, maxUnavailable, desired
}

// scaled is 0 for what isn't said; validation lets nothing else through that can't be read.
func scaled(value *intstr.IntOrString, of int) int {
	if value == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, of, true)
	if err != nil {
		return 0
	}
	return n
}

func (p *pass) surges() bool {
	strategy := p.Set.Spec.UpdateStrategy
	return strategy.Type == appsv1.RollingUpdateDaemonSetStrategyType && strategy.RollingUpdate != nil &&
		scaled(strategy.RollingUpdate.MaxSurge, 1) > 0
}

// freshAndOld finds the pod of the present template and the one of an earlier; ok is false
// when there are two of either, which settling must sort out first.
func (p *pass) freshAndOld(pods []*corev1.Pod) (fresh, old *corev1.Pod, ok bool) {
	for _, pod := range pods {
		which := &old
		if updated(p.Set, p.Hash, pod) {
			which = &fresh
		}
		switch {
		case pod.DeletionTimestamp != nil:
		case *which != nil:
			return nil, nil, false
		default:
			*which = pod
		}
	}
	return fresh, old, true
}

func (p *pass) rollInPlace(maxUnavailable int) {
	unavailable := 0
	var candidates []*corev1.Pod
	for _, node := range slices.Sorted(maps.Keys(p.byNode)) {
		fresh, old, ok := p.freshAndOld(p.byNode[node])
		switch {
		case !ok, (fresh == nil) == (old == nil):
			unavailable++
		case fresh != nil:
			if !p.available(fresh) {
				unavailable++
			}
		case !p.available(old):
			p.remove(old)
			unavailable++
		default:
			candidates = append(candidates, old)
		}
	}
	p.Delete = append(p.Delete, candidates[:min(len(candidates), max(0, maxUnavailable-unavailable))]...)
}

func (p *pass) rollSurging(maxSurge, desired int) {
	nodes := map[string]*corev1.Node{}
	for _, node := range p.Nodes {
		nodes[node.Name] = node
	}
	surging, available := 0, 0
	var candidates []string
	var unwanted []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(p.byNode)) {
		fresh, old, ok := p.freshAndOld(p.byNode[name])
		if !ok {
			surging++
			continue
		}
		if serving := cmp.Or(old, fresh); serving != nil && p.available(serving) {
			available++
		}
		switch {
		case old == nil:
		case fresh != nil && p.available(fresh):
			p.remove(old)
		case fresh != nil:
			surging++
		case nodes[name] == nil || !p.runsOn(nodes[name]):
			if p.available(old) {
				unwanted = append(unwanted, old)
			} else {
				p.remove(old)
			}
		case !p.available(old):
			p.Create = append(p.Create, name)
		default:
			candidates = append(candidates, name)
		}
	}
	// A pod on a node that shall have none any more goes once another serves in its place.
	p.Delete = append(p.Delete, unwanted[:min(len(unwanted), max(0, available-desired))]...)
	p.Create = append(p.Create, candidates[:min(len(candidates), max(0, maxSurge-surging))]...)
}

func (p *pass) runsOn(node *corev1.Node) bool {
	run, _ := p.fit.on(node)
	return run
}
