package plugins

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

func (p podTopologySpread) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.PodAssigned | framework.PodGone | framework.PodLabels, Helps: p.podHelps},
		{Changes: framework.NodeAdded | framework.NodeDeleted | framework.NodeLabels | framework.NodeTaints, Helps: p.nodeHelps},
		{Changes: framework.SelfLabels},
	}
}

// podHelps says that a pod came, went or changed that one of the constraints counts.
func (p podTopologySpread) podHelps(pod *corev1.Pod, event framework.Event) bool {
	before, after := event.PodBefore, event.PodAfter
	if before != nil && before.Namespace != pod.Namespace || after != nil && after.Namespace != pod.Namespace {
		return false
	}
	constraints, err := p.hard(pod)
	if err != nil {
		return true
	}
	for i := range constraints {
		counted := func(other *corev1.Pod) bool {
			return other != nil && constraints[i].selector.Matches(labels.Set(other.Labels))
		}
		if counted(before) != counted(after) {
			return true
		}
	}
	return false
}

// nodeHelps says that a place changed: by a node that came or went, or moved, or whose
// taints make it count or not.
func (p podTopologySpread) nodeHelps(pod *corev1.Pod, event framework.Event) bool {
	constraints, err := p.hard(pod)
	if err != nil {
		return true
	}
	before, after := event.NodeBefore, event.NodeAfter
	was := before != nil && hasKeys(before, constraints)
	is := after != nil && hasKeys(after, constraints)
	if was != is || !is {
		return was != is
	}
	for i := range constraints {
		if key := constraints[i].key; before.Labels[key] != after.Labels[key] {
			return true
		}
	}
	return !apiequality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints)
}
