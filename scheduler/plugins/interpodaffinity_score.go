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

// PreScore looks at the pods that have wishes, and at all if the new one has.
func (a interPodAffinity) PreScore(state *framework.CycleState, pod *framework.PodInfo, all framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	sums := attraction{}
	wishes := len(pod.Affinity.Preferred)+len(pod.Affinity.PreferredAnti) > 0
	if !wishes && a.ownWishesOnly {
		return framework.NewStatus(framework.Skip)
	}
	a.attractOthers(sums, pod, all.Wishing())
	if wishes {
		for _, node := range all.Nodes() {
			for _, other := range node.Pods {
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

// attract counts the wishes of the new pod about another.
func (a interPodAffinity) attract(sums attraction, pod, other *framework.PodInfo, node *corev1.Node) {
	add := func(terms []framework.AffinityTerm, sign int64) {
		for i := range terms {
			if terms[i].Matches(other.Pod, a.sources.namespaceLabels) {
				sums.add(node, terms[i].TopologyKey, sign*terms[i].Weight)
			}
		}
	}
	add(pod.Affinity.Preferred, 1)
	add(pod.Affinity.PreferredAnti, -1)
}

// attractOthers counts the wishes of others about the new pod. Whether a wish means it is
// asked once for all who have the same.
func (a interPodAffinity) attractOthers(sums attraction, pod *framework.PodInfo, nodes []*framework.NodeInfo) {
	means := map[string]bool{}
	last, lastMeans := "", false
	for _, node := range nodes {
		for _, wish := range a.sources.wishes.on(node) {
			if wish.term.Key != last {
				known, ok := means[wish.term.Key]
				if !ok {
					known = wish.term.Matches(pod.Pod, a.sources.namespaceLabels)
					means[wish.term.Key] = known
				}
				last, lastMeans = wish.term.Key, known
			}
			weight := wish.term.Weight
			if wish.required {
				weight = a.hardWeight
			}
			if lastMeans && weight > 0 {
				sums.add(node.Node, wish.term.TopologyKey, wish.sign*weight*wish.count)
			}
		}
	}
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
