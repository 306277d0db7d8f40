package scheduler

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/cache"
	"github.com/kogge-dev/kogge/scheduler/framework"
)

// errNoNodes is upstream's text for a cluster without nodes.
var errNoNodes = errors.New("no nodes available to schedule pods")

// finder finds nodes for pods. It belongs to the placing goroutine.
type finder struct {
	// snapshot is the picture that it works on, start where among the nodes the next search
	// begins.
	snapshot cache.Snapshot
	start    int
	// nominated are the pods for which room is being made, preempting those for which that
	// is going on right now. Others ask them too.
	nominated  *cache.Nominated
	preempting *preempting
}

func newFinder() finder { return finder{nominated: cache.NewNominated(), preempting: newPreempting()} }

// find gives the node for a pod, a *framework.Failed when none will do, or another error.
func (s *finder) find(c *cycle) (string, error) {
	feasible, scores, err := s.rate(c)
	if err != nil {
		return "", err
	}
	return feasible[best(scores)].Node.Name, nil
}

// rate gives the nodes that will do, at least one, with their scores.
func (s *finder) rate(c *cycle) ([]*framework.NodeInfo, []int64, error) {
	if len(s.snapshot.Nodes()) == 0 {
		return nil, nil, errNoNodes
	}
	feasible, failed, err := s.filter(c)
	switch {
	case err != nil:
		return nil, nil, err
	case len(feasible) == 0:
		s.makeRoom(c, failed)
		return nil, nil, failed
	case len(feasible) == 1:
		return feasible, []int64{0}, nil
	}
	scores, status := c.profile.Score(c.state, c.pod, &s.snapshot, feasible)
	if !status.IsSuccess() {
		return nil, nil, status.AsError()
	}
	return feasible, scores, nil
}

// best is the first of the best scores. Since each search begins where the last ended,
// nodes that are equally good take turns.
func best(scores []int64) (at int) {
	for i := range scores {
		if scores[i] > scores[at] {
			at = i
		}
	}
	return at
}

// filter gives nodes that the pod may run on: of a large cluster only as many as make a
// good choice, taken from where the last search ended.
func (s *finder) filter(c *cycle) (feasible []*framework.NodeInfo, failed *framework.Failed, err error) {
	all := s.snapshot.Nodes()
	failed = framework.NewFailed(len(all))
	candidates, by, status := c.profile.PreFilter(c.state, c.pod, &s.snapshot)
	if status.IsRejected() {
		failed.PreFilter = status.Message()
		failed.Plugins[status.Plugin] = true
		failed.Others = status
		return nil, failed, nil
	}
	if !status.IsSuccess() {
		return nil, nil, status.AsError()
	}
	tried := all
	start := s.start % len(all)
	if candidates != nil {
		failed.Others = framework.NewStatus(framework.Unresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", by))
		for _, plugin := range by {
			failed.Plugins[plugin] = true
		}
		tried, start = s.named(candidates), 0
	}
	if node := s.nominatedFor(c); node != nil {
		return []*framework.NodeInfo{node}, failed, nil
	}
	enough := enoughNodes(len(all), c.profile.Percentage)
	beside := s.nominated.Any()
	looked := 0
	for ; looked < len(tried) && len(feasible) < enough; looked++ {
		node := tried[(start+looked)%len(tried)]
		status := s.judge(c, node, beside)
		switch {
		case status.IsSuccess():
			feasible = append(feasible, node)
		case status.IsRejected():
			failed.Refuse(node.Node.Name, status)
		default:
			return nil, nil, status.AsError()
		}
	}
	if candidates == nil {
		// The next search begins one further even if every node was looked at.
		s.start = (start + max(looked%len(all), 1)) % len(all)
	}
	return feasible, failed, nil
}

// judge filters one node; beside says that there are pods for which room was made somewhere.
func (s *finder) judge(c *cycle, node *framework.NodeInfo, beside bool) *framework.Status {
	if beside {
		return c.profile.FilterBeside(c.state, c.pod, node, s.nominated.On(node.Node.Name))
	}
	return c.profile.Filter(c.state, c.pod, node)
}

// nominatedFor gives the node on which room was made for the pod, if it fits there now.
func (s *finder) nominatedFor(c *cycle) *framework.NodeInfo {
	name := s.nominated.NodeOf(c.entry.Pod.UID)
	if name == "" {
		return nil
	}
	if node := s.snapshot.Node(name); node != nil && s.judge(c, node, true).IsSuccess() {
		return node
	}
	return nil
}

// named gives those of the candidates that there are.
func (s *finder) named(candidates []string) []*framework.NodeInfo {
	nodes := make([]*framework.NodeInfo, 0, len(candidates))
	for _, name := range candidates {
		if node := s.snapshot.Node(name); node != nil {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// minEnough is how many nodes are always enough to choose from.
const minEnough = 100

// enoughNodes is how many feasible nodes are looked for among so many: half of them less a
// percent for every 125, at least 5 %, at least 100. Of 1,000 nodes it is 420, of 5,000
// 500. A configuration may name another percentage; 0 names none.
func enoughNodes(all, percent int) int {
	if all < minEnough || percent == 100 {
		return all
	}
	if percent == 0 {
		percent = max(50-all/125, 5)
	}
	return max(all*percent/100, minEnough)
}

// isUnschedulable says that a failure is a judgement and no error.
func isUnschedulable(err error) bool {
	_, failed := errors.AsType[*framework.Failed](err)
	return failed || errors.Is(err, errNoNodes)
}

// reasonOf is the reason of the condition for a failure.
func reasonOf(err error) string {
	if isUnschedulable(err) {
		return corev1.PodReasonUnschedulable
	}
	return corev1.PodReasonSchedulerError
}
