package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

const companyScoreKey = "InterPodAffinity/score"

// attraction is how much each place draws the pod (or, negative, repels it).
type attraction map[string]map[string]int64

func (m attraction) add(node *corev1.Node, key string, weight int64) {
	value, ok := node.Labels[key]
	if !ok {
		return
	}
	if m[key] == nil {
		m[key] = map[string]int64{}
	}
	m[key][value] += weight
}

// PreScore looks at all pods if the new one has wishes, else only at those that have.
func (a interPodAffinity) PreScore(state *framework.CycleState, pod *framework.PodInfo, all framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	sums := attraction{}
	wishes := len(pod.Affinity.Preferred)+len(pod.Affinity.PreferredAnti) > 0
	if !wishes && a.ownWishesOnly {
		return framework.NewStatus(framework.Skip)
	}
	if wishes {
		for _, node := range all.Nodes() {
			for _, other := range node.Pods {
				a.attract(sums, pod, other, node.Node)
			}
		}
	} else {
		for _, node := range all.Wishing() {
			for _, other := range node.Wishing {
				a.attract(sums, pod, other, node.Node)
			}
		}
	}
	if len(sums) == 0 {
		return framework.NewStatus(framework.Skip)
	}
	state.Write(companyScoreKey, sums)
	return nil
}

// attract counts the wishes of the new pod about another, and those of the other about it.
func (a interPodAffinity) attract(sums attraction, pod, other *framework.PodInfo, node *corev1.Node) {
	add := func(terms []framework.AffinityTerm, about *corev1.Pod, sign, fixed int64) {
		for i := range terms {
			if !terms[i].Matches(about, a.sources.namespaceLabels) {
				continue
			}
			weight := terms[i].Weight
			if fixed > 0 {
				weight = fixed
			}
			sums.add(node, terms[i].TopologyKey, sign*weight)
		}
	}
	add(pod.Affinity.Preferred, other.Pod, 1, 0)
	add(pod.Affinity.PreferredAnti, other.Pod, -1, 0)
	if a.hardWeight > 0 {
		add(other.Affinity.Required, pod.Pod, 1, a.hardWeight)
	}
	add(other.Affinity.Preferred, pod.Pod, 1, 0)
	add(other.Affinity.PreferredAnti, pod.Pod, -1, 0)
}

func (interPodAffinity) Score(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) (score int64) {
	sums, _ := framework.Read[attraction](state, companyScoreKey)
	for key, values := range sums {
		if value, ok := node.Node.Labels[key]; ok {
			score += values[value]
		}
	}
	return score
}

// Normalize stretches the scores over the whole range; are all alike, they are 0.
func (interPodAffinity) Normalize(scores []int64) {
	if len(scores) == 0 {
		return
	}
	least, most := slices.Min(scores), slices.Max(scores)
	for i := range scores {
		if most == least {
			scores[i] = 0
			continue
		}
		scores[i] = int64(float64(framework.MaxScore) * (float64(scores[i]-least) / float64(most-least)))
	}
}
