package plugins

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodeUnschedulable refuses cordoned nodes, unless the pod tolerates the taint that a
// cordoned node is about to get.
type nodeUnschedulable struct{}

func (nodeUnschedulable) Name() string { return "NodeUnschedulable" }

func (nodeUnschedulable) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded | framework.NodeTaints, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			return !event.NodeAfter.Spec.Unschedulable && (event.NodeBefore == nil || event.NodeBefore.Spec.Unschedulable)
		}},
		{Changes: framework.SelfTolerations, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			return tolerates(event.PodAfter.Spec.Tolerations, cordoned)
		}},
	}
}

// cordoned is the taint that a cordoned node gets.
var cordoned = &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

func (nodeUnschedulable) Filter(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	if !node.Unschedulable {
		return nil
	}
	if tolerates(pod.Pod.Spec.Tolerations, cordoned) {
		return nil
	}
	return unschedulableNode
}

var unschedulableNode = framework.NewStatus(framework.Unresolvable, "node(s) were unschedulable").By("NodeUnschedulable")

func tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	for i := range tolerations {
		if tolerations[i].ToleratesTaint(logr.Discard(), taint, false) {
			return true
		}
	}
	return false
}
