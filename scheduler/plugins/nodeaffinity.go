package plugins

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodeAffinity refuses nodes that don't match the pod's nodeSelector and required
// affinity, and rates nodes by its preferred affinity.
type nodeAffinity struct {
	// added is demanded, and addedPreferred wished for, in the name of every pod.
	added          *nodeaffinity.NodeSelector
	addedPreferred *nodeaffinity.PreferredSchedulingTerms
}

func newNodeAffinity(args *configv1.NodeAffinityArgs) (n nodeAffinity, err error) {
	if args.AddedAffinity == nil {
		return n, nil
	}
	if required := args.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if n.added, err = nodeaffinity.NewNodeSelector(required); err != nil {
			return n, fmt.Errorf("parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: %w", err)
		}
	}
	if preferred := args.AddedAffinity.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		if n.addedPreferred, err = nodeaffinity.NewPreferredSchedulingTerms(preferred); err != nil {
			return n, fmt.Errorf("parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: %w", err)
		}
	}
	return n, nil
}

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

func (n nodeAffinity) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded | framework.NodeLabels, Helps: func(pod *corev1.Pod, event framework.Event) bool {
			if n.added != nil && !n.added.Match(event.NodeAfter) {
				return false
			}
			demands := nodeaffinity.GetRequiredNodeAffinity(pod)
			matches, err := demands.Match(event.NodeAfter)
			if err != nil || !matches || event.NodeBefore == nil {
				return err != nil || matches
			}
			matched, err := demands.Match(event.NodeBefore)
			return err != nil || !matched // it does now, and didn't
		}},
	}
}

func (n nodeAffinity) PreFilter(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	terms := requiredTerms(pod.Pod)
	if terms == nil && pod.Pod.Spec.NodeSelector == nil && n.added == nil {
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

func (n nodeAffinity) Filter(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	if n.added != nil && !n.added.Match(node.Node) {
		return enforcedMismatch
	}
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

var (
	affinityMismatch = framework.NewStatus(framework.Unresolvable, "node(s) didn't match Pod's node affinity/selector").By("NodeAffinity")
	enforcedMismatch = framework.NewStatus(framework.Unresolvable, "node(s) didn't match scheduler-enforced node affinity").By("NodeAffinity")
)

func (n nodeAffinity) PreScore(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	affinity := pod.Pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil ||
		len(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		if n.addedPreferred != nil {
			return nil
		}
		return framework.NewStatus(framework.Skip)
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return framework.AsStatus(err)
	}
	state.Write(preferredKey, terms)
	return nil
}

func (n nodeAffinity) Score(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) (score int64) {
	if n.addedPreferred != nil {
		score = n.addedPreferred.Score(node.Node)
	}
	if terms, ok := framework.Read[preferredAffinity](state, preferredKey); ok {
		score += terms.Score(node.Node)
	}
	return score
}

func (nodeAffinity) Normalize(scores []int64) { normalize(scores, false) }
