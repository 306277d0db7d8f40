package plugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/preemption"
)

// defaultPreemption says for a pod that fits nowhere which less urgent pods to end so that
// it does, or why that wouldn't help.
type defaultPreemption struct {
	sources *Sources
	// Among how many nodes is chosen: this part of them, and at least so many.
	percentage, absolute int
}

func (defaultPreemption) Name() string { return "DefaultPreemption" }

func (d defaultPreemption) PostFilter(attempt *framework.Attempt) (*framework.Preemption, *framework.Status) {
	if why := ineligible(attempt); why != "" {
		return nil, preemptionStatus(why)
	}
	budgets, err := d.sources.budgets.List(labels.Everything())
	if err != nil {
		return nil, framework.AsStatus(fmt.Errorf("preemption: %w", err))
	}
	candidates, why := preemption.Find(attempt, budgets, d.percentage, d.absolute)
	if len(candidates) == 0 {
		return &framework.Preemption{}, preemptionStatus(why.Error())
	}
	decision := framework.Preemption{Node: candidates[0].Node, Victims: candidates[0].Victims}
	for _, other := range candidates[1:] {
		decision.Alternatives = append(decision.Alternatives, framework.Preemption{Node: other.Node, Victims: other.Victims})
	}
	found := fmt.Sprintf("found a potential placement for pod on node %v, preempting %d victims", decision.Node, len(decision.Victims))
	return &decision, preemptionStatus(found)
}

func preemptionStatus(message string) *framework.Status {
	return framework.NewStatus(framework.Unschedulable, "preemption: "+message)
}

// ineligible says why a pod mayn't end others: it is too modest, or others are ending for
// it already.
func ineligible(attempt *framework.Attempt) string {
	pod := attempt.Pod.Pod
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	if attempt.Busy {
		return "waiting for the preemption for this pod to be finished"
	}
	node := attempt.Nodes.Node(attempt.Nominated)
	if node == nil {
		return ""
	}
	if status := attempt.Failed.Of(attempt.Nominated); status != nil && status.Code == framework.Unresolvable {
		return "" // it will never fit there; look elsewhere
	}
	for _, other := range node.Pods {
		if framework.Priority(other.Pod) < framework.Priority(pod) && endsForAnother(other.Pod) {
			return "not eligible due to a terminating pod on the nominated node."
		}
	}
	return ""
}

// endsForAnother says that a pod is about to end because it was preempted.
func endsForAnother(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.DisruptionTarget {
			return c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
		}
	}
	return false
}
