package preemption

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// trial is a node from which pods are taken to see whether the new one fits.
type trial struct {
	attempt *framework.Attempt
	state   *framework.CycleState
	node    *framework.NodeInfo
}

func (t *trial) remove(pod *framework.PodInfo) {
	t.node.Drop(pod)
	t.attempt.Adjust(t.state, pod, t.node, -1)
}

func (t *trial) add(pod *framework.PodInfo) {
	t.node.Put(pod)
	t.attempt.Adjust(t.state, pod, t.node, 1)
}

func (t *trial) judge() *framework.Status { return t.attempt.Filter(t.state, t.node) }

// victimsOn gives the least that must go from a node. All less urgent pods are taken away;
// then they are put back one by one, those first that a budget protects, as long as the
// new pod still fits.
func victimsOn(attempt *framework.Attempt, node *framework.NodeInfo, budgets []*policyv1.PodDisruptionBudget) (*Candidate, *framework.Status) {
	lesser := lessUrgent(node.Pods, attempt.Pod.Pod)
	if len(lesser) == 0 {
		return nil, framework.NewStatus(framework.Unresolvable, "No preemption victims found for incoming pod")
	}
	t := &trial{attempt: attempt, state: attempt.State.Clone(), node: node.Scratch()}
	for _, pod := range lesser {
		t.remove(pod)
	}
	if status := t.judge(); !status.IsSuccess() {
		return nil, status
	}
	candidate := &Candidate{Node: node.Node.Name}
	protected, others := byBudget(lesser, budgets)
	candidate.Victims = t.giveBack(protected, nil)
	candidate.Violations = len(candidate.Victims)
	candidate.Victims = t.giveBack(others, candidate.Victims)
	if len(candidate.Victims) == 0 {
		return nil, framework.AsStatus(fmt.Errorf("expected at least one victim pod on node %q", node.Node.Name))
	}
	slices.SortStableFunc(candidate.Victims, compare)
	return candidate, nil
}

// giveBack puts pods back one by one and adds those that can't be to the victims.
func (t *trial) giveBack(pods []*framework.PodInfo, victims []*corev1.Pod) []*corev1.Pod {
	for _, pod := range pods {
		t.add(pod)
		if !t.judge().IsSuccess() {
			t.remove(pod)
			victims = append(victims, pod.Pod)
		}
	}
	return victims
}

// lessUrgent gives the pods that may be ended, the most important first.
func lessUrgent(pods []*framework.PodInfo, than *corev1.Pod) (lesser []*framework.PodInfo) {
	for _, pod := range pods {
		if framework.Priority(pod.Pod) < framework.Priority(than) {
			lesser = append(lesser, pod)
		}
	}
	slices.SortStableFunc(lesser, func(a, b *framework.PodInfo) int { return compare(a.Pod, b.Pod) })
	return lesser
}

// compare puts the more important pod first: the more urgent, then the one that has run
// longer. One that hasn't started is the youngest.
func compare(a, b *corev1.Pod) int {
	if pa, pb := framework.Priority(a), framework.Priority(b); pa != pb {
		if pa > pb {
			return -1
		}
		return 1
	}
	return compareStart(a.Status.StartTime, b.Status.StartTime)
}

func compareStart(a, b *metav1.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(b.Time)
}

// byBudget splits pods into those whose end would violate a budget and the others, in
// their order: the first that go use up what the budgets allow.
func byBudget(pods []*framework.PodInfo, budgets []*policyv1.PodDisruptionBudget) (protected, others []*framework.PodInfo) {
	if len(budgets) == 0 {
		return nil, pods
	}
	allowed := make([]int32, len(budgets))
	for i, budget := range budgets {
		allowed[i] = budget.Status.DisruptionsAllowed
	}
	for _, pod := range pods {
		if violates(pod.Pod, budgets, allowed) {
			protected = append(protected, pod)
		} else {
			others = append(others, pod)
		}
	}
	return protected, others
}

// violates counts a pod's end against its budgets. Pods without labels have none; an end
// that a budget knows of already doesn't count again.
func violates(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget, allowed []int32) bool {
	if len(pod.Labels) == 0 {
		return false
	}
	for i, budget := range budgets {
		if budget.Namespace != pod.Namespace {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if _, counted := budget.Status.DisruptedPods[pod.Name]; counted {
			continue
		}
		if allowed[i]--; allowed[i] < 0 {
			return true
		}
	}
	return false
}
