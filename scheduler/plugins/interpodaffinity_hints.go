package plugins

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

func (a interPodAffinity) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.PodAssigned | framework.PodGone | framework.PodLabels, Helps: a.podHelps},
		{Changes: framework.NodeAdded | framework.SelfLabels},
		{Changes: framework.NodeLabels, Helps: a.labelsHelp},
	}
}

// podHelps says that another pod came whose company is required, or went whose company
// wasn't wanted.
func (a interPodAffinity) podHelps(pod *corev1.Pod, event framework.Event) bool {
	terms := framework.ParseAffinity(pod)
	before, after := event.PodBefore, event.PodAfter
	came := after != nil && a.matchesAll(terms.Required, after) && (before == nil || !a.matchesAll(terms.Required, before))
	went := before != nil && a.matchesAny(terms.RequiredAnti, before) && (after == nil || !a.matchesAny(terms.RequiredAnti, after))
	if came || went {
		return true
	}
	return after == nil && before != nil && a.matchesAny(framework.ParseAffinity(before).RequiredAnti, pod)
}

func (a interPodAffinity) matchesAny(terms []framework.AffinityTerm, pod *corev1.Pod) bool {
	for i := range terms {
		if terms[i].Matches(pod, a.sources.namespaceLabels) {
			return true
		}
	}
	return false
}

// labelsHelp says that a node moved to another place of one of the pod's terms.
func (interPodAffinity) labelsHelp(pod *corev1.Pod, event framework.Event) bool {
	terms := framework.ParseAffinity(pod)
	for _, list := range [][]framework.AffinityTerm{terms.Required, terms.RequiredAnti} {
		for i := range list {
			key := list[i].TopologyKey
			was, had := event.NodeBefore.Labels[key]
			is, has := event.NodeAfter.Labels[key]
			if had != has || was != is {
				return true
			}
		}
	}
	return false
}
