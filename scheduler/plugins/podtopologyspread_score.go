package plugins

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

const spreadScoreKey = "PodTopologySpread/score"

// ignored is the score of nodes that aren't in a place for each of the pod's constraints.
const ignored int64 = -1

// softSpreading is what PreScore leaves.
type softSpreading struct {
	constraints []constraint
	// places counts pods by place; nil for hostnames, where each node is one.
	places []map[string]int
	// weights make up for the number of places: a pod more in one of many weighs more.
	weights  []float64
	counters []*podCounter
	// strict says that nodes which aren't in a place for each constraint are ignored.
	strict bool
}

func (p podTopologySpread) PreScore(state *framework.CycleState, pod *framework.PodInfo, all framework.Snapshot, nodes []*framework.NodeInfo) *framework.Status {
	constraints, ours, err := p.soft(pod.Pod)
	if err != nil {
		return framework.AsStatus(err)
	}
	if len(constraints) == 0 {
		return framework.NewStatus(framework.Skip)
	}
	s := newSoftSpreading(constraints, nodes, !ours)
	for i := range constraints {
		s.counters = append(s.counters, p.counts.of([]string{pod.Pod.Namespace}, constraints[i].selector, false))
	}
	s.count(pod.Pod, all)
	state.Write(spreadScoreKey, s)
	return nil
}

// newSoftSpreading finds the places among the nodes to choose from.
func newSoftSpreading(constraints []constraint, nodes []*framework.NodeInfo, strict bool) *softSpreading {
	s := &softSpreading{
		constraints: constraints, strict: strict,
		places: make([]map[string]int, len(constraints)), weights: make([]float64, len(constraints)),
	}
	for i := range constraints {
		if constraints[i].key != corev1.LabelHostname {
			s.places[i] = map[string]int{}
		}
	}
	rated := 0
	for _, node := range nodes {
		if strict && !hasKeys(node.Node, constraints) {
			continue
		}
		rated++
		for i := range constraints {
			if s.places[i] != nil {
				s.places[i][node.Node.Labels[constraints[i].key]] = 0
			}
		}
	}
	for i := range constraints {
		places := rated
		if s.places[i] != nil {
			places = len(s.places[i])
		}
		s.weights[i] = math.Log(float64(places + 2))
	}
	return s
}

// count counts the pods in the places, on all nodes.
func (s *softSpreading) count(pod *corev1.Pod, all framework.Snapshot) {
	demands := nodeDemands(pod)
	for i := range s.constraints {
		c, places := &s.constraints[i], s.places[i]
		if places == nil {
			continue
		}
		for _, node := range all.Nodes() {
			more := s.counters[i].on(node)
			if more == 0 || s.strict && !hasKeys(node.Node, s.constraints) || !c.counts(pod, node.Node, demands) {
				continue
			}
			at := node.Node.Labels[c.key]
			if before, known := places[at]; known {
				places[at] = before + more
			}
		}
	}
}

func (podTopologySpread) Score(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) int64 {
	s, ok := framework.Read[*softSpreading](state, spreadScoreKey)
	if !ok {
		return 0
	}
	if s.strict && !hasKeys(node.Node, s.constraints) {
		return ignored
	}
	var score float64
	for i := range s.constraints {
		at, ok := node.Node.Labels[s.constraints[i].key]
		if !ok {
			continue
		}
		count := 0
		if s.places[i] == nil {
			count = s.counters[i].on(node)
		} else {
			count = s.places[i][at]
		}
		score += float64(count)*s.weights[i] + float64(s.constraints[i].maxSkew-1)
	}
	return int64(math.Round(score))
}

// Normalize turns counts around: the fewest pods are the best. Ignored nodes get 0.
func (podTopologySpread) Normalize(scores []int64) {
	least, most := int64(math.MaxInt64), int64(0)
	for _, score := range scores {
		if score != ignored {
			least, most = min(least, score), max(most, score)
		}
	}
	for i, score := range scores {
		switch {
		case score == ignored:
			scores[i] = 0
		case most == 0:
			scores[i] = framework.MaxScore
		default:
			scores[i] = framework.MaxScore * (most + least - score) / most
		}
	}
}
