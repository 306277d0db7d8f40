package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodeAffinity refuses nodes that don't match the pod's nodeSelector and required
// affinity, and rates nodes by its preferred affinity.
type nodeAffinity struct{}

// requiredAffinity and preferredAffinity are what the steps leave each other.
type (
	requiredAffinity  = nodeaffinity.RequiredNodeAffinity
	preferredAffinity = *nodeaffinity.PreferredSchedulingTerms
)

const (
	requiredKey  = "NodeAffinity/required"
	preferredKey = "NodeAffinity/preferred"
)

func (nodeAffinity) Name() string { return "NodeAffinity" }

func (nodeAffinity) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded | framework.NodeLabels, Helps: func(pod *corev1.Pod, event framework.Event) bool {
			matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(event.NodeAfter)
			return err != nil || matches
		}},
		{Changes: framework.SelfChanged},
	}
}

func (nodeAffinity) PreFilter(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	terms := requiredTerms(pod.Pod)
	if terms == nil && pod.Pod.Spec.NodeSelector == nil {
		return nil, framework.NewStatus(framework.Skip)
	}
	state.Write(requiredKey, nodeaffinity.GetRequiredNodeAffinity(pod.Pod))
	names, limited := namedNodes(terms)
	if limited && len(names) == 0 {
		return nil, framework.NewStatus(framework.Unresolvable, "pod affinity terms conflict")
	}
	return names, nil
}

func requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil ||
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// namedNodes gives the only nodes that can match, when every term names nodes: pods of
// DaemonSets do, and needn't be tried on thousands of others. Terms are alternatives, the
// requirements of one term hold together.
func namedNodes(terms []corev1.NodeSelectorTerm) (names []string, limited bool) {
	for _, term := range terms {
		var ofTerm []string
		named := false
		for _, field := range term.MatchFields {
			if field.Key != metav1.ObjectNameField || field.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if !named {
				ofTerm, named = slices.Clone(field.Values), true
				continue
			}
			ofTerm = slices.DeleteFunc(ofTerm, func(name string) bool { return !slices.Contains(field.Values, name) })
		}
		if !named {
			return nil, false
		}
		names = append(names, ofTerm...)
	}
	slices.Sort(names)
	return slices.Compact(names), len(terms) > 0
}

func (nodeAffinity) Filter(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	required, ok := framework.Read[requiredAffinity](state, requiredKey)
	if !ok {
		return nil
	}
	// Terms that can't be parsed match nothing; others of the same pod may still.
	if matches, _ := required.Match(node.Node); matches {
		return nil
	}
	return affinityMismatch
}

var affinityMismatch = framework.NewStatus(framework.Unresolvable, "node(s) didn't match Pod's node affinity/selector")

func (nodeAffinity) PreScore(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	affinity := pod.Pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil ||
		len(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return framework.NewStatus(framework.Skip)
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return framework.AsStatus(err)
	}
	state.Write(preferredKey, terms)
	return nil
}

func (nodeAffinity) Score(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if terms, ok := framework.Read[preferredAffinity](state, preferredKey); ok {
		return terms.Score(node.Node)
	}
	return 0
}

func (nodeAffinity) Normalize(scores []int64) { normalize(scores, false) }
