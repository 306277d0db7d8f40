package plugins

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// defaultPreemption says of a pod that fits nowhere whether ending others could help. It
// looks at each node that was refused for want of room, and reports how many of them have
// pods of lower priority at all.
type defaultPreemption struct{}

func (defaultPreemption) Name() string { return "DefaultPreemption" }

func (defaultPreemption) PostFilter(_ *framework.CycleState, pod *framework.PodInfo, nodes framework.Snapshot, failed *framework.Failed) *framework.Status {
	if policy := pod.Pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return preemptionStatus("not eligible due to preemptionPolicy=Never.")
	}
	counts := map[string]int{}
	if hopeless := failed.Count(framework.Unresolvable); hopeless > 0 {
		counts["Preemption is not helpful for scheduling"] = hopeless
	}
	for name, status := range failed.Nodes {
		if status.Code != framework.Unschedulable {
			continue
		}
		if node := nodes.Node(name); node != nil && !hasVictims(node, pod.Pod) {
			counts["No preemption victims found for incoming pod"]++
		}
	}
	reasons := make([]string, 0, len(counts))
	for reason, count := range counts {
		reasons = append(reasons, fmt.Sprintf("%d %s", count, reason))
	}
	slices.Sort(reasons)
	return preemptionStatus(fmt.Sprintf("0/%d nodes are available: %s.", failed.Total, strings.Join(reasons, ", ")))
}

func preemptionStatus(message string) *framework.Status {
	return framework.NewStatus(framework.Unschedulable, "preemption: "+message)
}

// hasVictims says that a node has a pod of lower priority.
func hasVictims(node *framework.NodeInfo, pod *corev1.Pod) bool {
	return slices.ContainsFunc(node.Pods, func(other *framework.PodInfo) bool {
		return framework.Priority(other.Pod) < framework.Priority(pod)
	})
}
