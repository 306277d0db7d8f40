package framework

import corev1 "k8s.io/api/core/v1"

// Attempt is what is known when no node has passed for a pod.
type Attempt struct {
	State  *CycleState
	Pod    *PodInfo
	Nodes  Snapshot
	Failed *Failed
	// Nominated is the node that room is being made on already; "" for none.
	Nominated string
	// Busy says that pods are being ended for this one right now.
	Busy bool
	// Filter judges a node with other pods than it has. Pods that are nominated for it are
	// taken to be there.
	Filter func(state *CycleState, node *NodeInfo) *Status
	// Adjust brings a state, which must be a clone, to what it were with a pod more or less.
	Adjust func(state *CycleState, other *PodInfo, node *NodeInfo, sign int)
}

// Preemption is a decision to make room.
type Preemption struct {
	// Node is where the pod will fit; "" when nowhere, which takes a nomination back.
	Node string
	// Victims are the pods to end, the most important first.
	Victims []*corev1.Pod
	// Alternatives are further decisions that would do as little harm.
	Alternatives []Preemption
}

// FilterBeside is Filter with pods taken to be on the node that are nominated for it and as
// urgent as the pod. It must pass without them too: they may never come, and the pod may
// need the company of others.
func (p *Profile) FilterBeside(state *CycleState, pod *PodInfo, node *NodeInfo, nominated []*PodInfo) *Status {
	adjusted, with := state, node
	for _, other := range nominated {
		if other.Pod.UID == pod.Pod.UID || Priority(other.Pod) < Priority(pod.Pod) {
			continue
		}
		if adjusted == state {
			adjusted = state.Clone()
		}
		with = with.WithPod(other)
		p.Adjust(adjusted, pod, other, node, 1)
	}
	if with != node {
		if status := p.Filter(adjusted, pod, with); !status.IsSuccess() {
			return status
		}
	}
	return p.Filter(state, pod, node)
}
