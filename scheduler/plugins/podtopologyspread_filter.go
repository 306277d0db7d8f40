package plugins

import (
	"maps"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

const spreadKey = "PodTopologySpread"

// spreading is what PreFilter leaves: for each constraint how many pods are in each place,
// and how many in the emptiest, worked out when first asked for.
type spreading struct {
	constraints []constraint
	places      []map[string]int
	leasts      []int
}

// Clone is framework.Cloner.
func (s *spreading) Clone() any {
	next := &spreading{constraints: s.constraints, places: make([]map[string]int, len(s.places))}
	for i := range s.places {
		next.places[i] = maps.Clone(s.places[i])
	}
	return next
}

// emptiest is how many pods the emptiest place has.
func (s *spreading) emptiest(i int) int {
	if s.leasts == nil {
		s.leasts = make([]int, len(s.constraints))
		for i := range s.constraints {
			s.leasts[i] = s.least(i)
		}
	}
	return s.leasts[i]
}

// least counts anew. With fewer places than there should be,
// one without any is taken to exist.
func (s *spreading) least(i int) int {
	if len(s.places[i]) < s.constraints[i].minDomains {
		return 0
	}
	least, first := 0, true
	for _, count := range s.places[i] {
		if first || count < least {
			least, first = count, false
		}
	}
	return least
}

func (p podTopologySpread) PreFilter(state *framework.CycleState, pod *framework.PodInfo, nodes framework.Snapshot) ([]string, *framework.Status) {
	constraints, err := p.hard(pod.Pod)
	if err != nil {
		return nil, framework.AsStatus(err)
	}
	if len(constraints) == 0 {
		return nil, framework.NewStatus(framework.Skip)
	}
	s := &spreading{constraints: constraints, places: make([]map[string]int, len(constraints))}
	demands := nodeDemands(pod.Pod)
	counters := make([]*podCounter, len(constraints))
	for i := range constraints {
		s.places[i] = map[string]int{}
		counters[i] = p.counts.of([]string{pod.Pod.Namespace}, constraints[i].selector, false)
	}
	for _, node := range nodes.Nodes() {
		if !hasKeys(node.Node, constraints) {
			continue
		}
		for i := range constraints {
			if constraints[i].counts(pod.Pod, node.Node, demands) {
				s.places[i][node.Node.Labels[constraints[i].key]] += counters[i].on(node)
			}
		}
	}
	state.Write(spreadKey, s)
	return nil, nil
}

func (p podTopologySpread) Adjust(state *framework.CycleState, pod, other *framework.PodInfo, node *framework.NodeInfo, sign int) {
	s, ok := framework.Read[*spreading](state, spreadKey)
	if !ok || other.Pod.Namespace != pod.Pod.Namespace || !hasKeys(node.Node, s.constraints) {
		return
	}
	demands := nodeDemands(pod.Pod)
	for i := range s.constraints {
		c := &s.constraints[i]
		if c.selector.Matches(labels.Set(other.Pod.Labels)) && c.counts(pod.Pod, node.Node, demands) {
			s.places[i][node.Node.Labels[c.key]] += sign
		}
	}
	s.leasts = nil
}

var (
	tooUneven = framework.NewStatus(framework.Unschedulable, "node(s) didn't match pod topology spread constraints").By("PodTopologySpread")
	noPlace   = framework.NewStatus(framework.Unresolvable, "node(s) didn't match pod topology spread constraints (missing required label)").By("PodTopologySpread")
)

func (podTopologySpread) Filter(state *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	s, ok := framework.Read[*spreading](state, spreadKey)
	if !ok {
		return nil
	}
	for i := range s.constraints {
		c := &s.constraints[i]
		at, ok := node.Node.Labels[c.key]
		if !ok {
			return noPlace
		}
		would := s.places[i][at]
		if c.selector.Matches(labels.Set(pod.Pod.Labels)) {
			would++
		}
		if would-s.emptiest(i) > c.maxSkew {
			return tooUneven
		}
	}
	return nil
}
