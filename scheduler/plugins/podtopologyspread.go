package plugins

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
)

// podTopologySpread keeps pods of a kind spread over places (zones, nodes): it refuses
// nodes that would make the difference between the fullest and the emptiest place too
// large, and rates those best where the fewest are.
type podTopologySpread struct {
	sources *Sources
	counts  *podCounts
	// defaults are the constraints of pods that have none of their own and belong to a
	// service or a set; system says that they are upstream's.
	defaults []corev1.TopologySpreadConstraint
	system   bool
}

func newPodTopologySpread(args *configv1.PodTopologySpreadArgs, sources *Sources) podTopologySpread {
	if args.DefaultingType == configv1.SystemDefaulting {
		return podTopologySpread{sources: sources, counts: sources.counts, defaults: systemConstraints, system: true}
	}
	return podTopologySpread{sources: sources, counts: sources.counts, defaults: args.DefaultConstraints}
}

func (podTopologySpread) Name() string { return "PodTopologySpread" }

// systemConstraints are upstream's defaults.
var systemConstraints = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 3},
	{TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 5},
}

// constraint is a wish to be spread, parsed, with its defaults.
type constraint struct {
	key        string
	maxSkew    int
	minDomains int
	selector   labels.Selector
	// honorAffinity and honorTaints say that nodes on which the pod can't be don't count.
	honorAffinity, honorTaints bool
}

// parseConstraints gives those of the constraints that say this about nodes that don't
// satisfy them.
func parseConstraints(pod *corev1.Pod, all []corev1.TopologySpreadConstraint, action corev1.UnsatisfiableConstraintAction) (parsed []constraint, err error) {
	for i := range all {
		given := &all[i]
		if given.WhenUnsatisfiable != action {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(given.LabelSelector)
		if err != nil {
			return nil, fmt.Errorf("parse the topology spread constraints of pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		parsed = append(parsed, constraint{
			key: given.TopologyKey, maxSkew: int(given.MaxSkew), minDomains: int(ptr.Deref(given.MinDomains, 1)),
			selector:      withLabelKeys(selector, given.MatchLabelKeys, pod.Labels),
			honorAffinity: ptr.Deref(given.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor,
			honorTaints:   ptr.Deref(given.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == corev1.NodeInclusionPolicyHonor,
		})
	}
	return parsed, nil
}

// withLabelKeys adds the pod's own values of those labels to what is asked of others. A
// selector that matches nothing stays so.
func withLabelKeys(selector labels.Selector, keys []string, own map[string]string) labels.Selector {
	same := labels.Set{}
	for _, key := range keys {
		if value, ok := own[key]; ok {
			same[key] = value
		}
	}
	requirements, selectable := selector.Requirements()
	if len(same) == 0 || !selectable {
		return selector
	}
	return labels.SelectorFromSet(same).Add(requirements...)
}

// hard gives the constraints that must be satisfied.
func (p podTopologySpread) hard(pod *corev1.Pod) ([]constraint, error) {
	return p.of(pod, corev1.DoNotSchedule)
}

// soft gives those that are only wished for; ours says that they are the system's.
func (p podTopologySpread) soft(pod *corev1.Pod) (soft []constraint, ours bool, err error) {
	soft, err = p.of(pod, corev1.ScheduleAnyway)
	return soft, p.system && len(pod.Spec.TopologySpreadConstraints) == 0, err
}

// of gives a pod's constraints of one kind, or the default ones of that kind.
func (p podTopologySpread) of(pod *corev1.Pod, action corev1.UnsatisfiableConstraintAction) ([]constraint, error) {
	if len(pod.Spec.TopologySpreadConstraints) > 0 {
		return parseConstraints(pod, pod.Spec.TopologySpreadConstraints, action)
	}
	if !slices.ContainsFunc(p.defaults, func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == action }) {
		return nil, nil
	}
	selector := p.sources.siblings(pod)
	if selector.Empty() {
		return nil, nil
	}
	constraints, err := parseConstraints(pod, p.defaults, action)
	for i := range constraints {
		constraints[i].selector = selector
	}
	return constraints, err
}

// counts says that the pods on a node count for the constraint.
func (c *constraint) counts(pod *corev1.Pod, node *corev1.Node, required *nodeaffinity.RequiredNodeAffinity) bool {
	if c.honorAffinity && required != nil {
		if matches, _ := required.Match(node); !matches {
			return false
		}
	}
	return !c.honorTaints || !repels(node, pod)
}

// nodeDemands gives what the pod demands of nodes; nil when it demands nothing.
func nodeDemands(pod *corev1.Pod) *nodeaffinity.RequiredNodeAffinity {
	if len(pod.Spec.NodeSelector) == 0 && requiredTerms(pod) == nil {
		return nil
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	return &required
}

// hasKeys says that a node is in a place for each of the constraints.
func hasKeys(node *corev1.Node, constraints []constraint) bool {
	for i := range constraints {
		if _, ok := node.Labels[constraints[i].key]; !ok {
			return false
		}
	}
	return true
}
