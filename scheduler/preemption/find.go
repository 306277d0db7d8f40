package preemption

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// Candidate is a node where the pod fits once the victims are gone.
type Candidate struct {
	Node string
	// Victims are the pods to end, the most important first.
	Victims []*corev1.Pod
	// Violations is how many of them a disruption budget would protect.
	Violations int
}

// Find gives the candidates that hurt least, equals in the nodes' order; none when nothing
// would help, and then why. As many are looked for as are this percentage of the nodes, but
// at least so many.
func Find(attempt *framework.Attempt, budgets []*policyv1.PodDisruptionBudget, percentage, least int) ([]Candidate, *framework.Failed) {
	why := framework.NewFailed(attempt.Failed.Total)
	why.Others = framework.NewStatus(framework.Unresolvable, "Preemption is not helpful for scheduling")
	nodes := promising(attempt)
	enough := min(len(nodes), max(attempt.Failed.Total*percentage/100, least))
	var candidates []Candidate
	harmless := false
	for _, node := range nodes {
		candidate, status := victimsOn(attempt, node, budgets)
		if !status.IsSuccess() {
			why.Refuse(node.Node.Name, status)
			continue
		}
		candidates = append(candidates, *candidate)
		harmless = harmless || candidate.Violations == 0
		if harmless && len(candidates) >= enough {
			break
		}
	}
	if len(candidates) == 0 {
		return nil, why
	}
	return choose(candidates), nil
}

// promising are the nodes that refused the pod for a reason that ending pods may remove.
func promising(attempt *framework.Attempt) (nodes []*framework.NodeInfo) {
	failed := attempt.Failed
	for _, node := range attempt.Nodes.Nodes() {
		if status := failed.Of(node.Node.Name); status != nil && status.Code == framework.Unschedulable {
			nodes = append(nodes, node)
		}
	}
	return nodes
}
