package plugins

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// taintToleration refuses nodes with a taint that the pod doesn't tolerate, and rates
// those lower that would rather not have it (PreferNoSchedule).
type taintToleration struct{}

func (taintToleration) Name() string { return "TaintToleration" }

func (t taintToleration) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded | framework.NodeTaints, Helps: func(pod *corev1.Pod, event framework.Event) bool {
			return !repels(event.NodeAfter, pod) && (event.NodeBefore == nil || repels(event.NodeBefore, pod))
		}},
		{Changes: framework.SelfTolerations},
	}
}

// repels says that a node has a taint that keeps the pod off.
func repels(node *corev1.Node, pod *corev1.Pod) bool {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod.Spec.Tolerations, taint) {
			return true
		}
	}
	return false
}

func (taintToleration) Filter(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	if len(node.Taints) > 0 && repels(node.Node, pod.Pod) {
		return untolerated
	}
	return nil
}

var untolerated = framework.NewStatus(framework.Unresolvable, "node(s) had untolerated taint(s)").By("TaintToleration")

func (taintToleration) PreScore(_ *framework.CycleState, _ *framework.PodInfo, _ framework.Snapshot, nodes []*framework.NodeInfo) *framework.Status {
	for _, node := range nodes {
		for i := range node.Taints {
			if node.Taints[i].Effect == corev1.TaintEffectPreferNoSchedule {
				return nil
			}
		}
	}
	// No node has such a taint: all would get the same.
	return framework.NewStatus(framework.Skip)
}

// Score counts the taints that the pod minds; Normalize turns the count around.
func (taintToleration) Score(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) (count int64) {
	for i := range node.Taints {
		taint := &node.Taints[i]
		if taint.Effect == corev1.TaintEffectPreferNoSchedule && !toleratesSoftly(pod.Pod, taint) {
			count++
		}
	}
	return count
}

// toleratesSoftly looks only at tolerations that can mean a soft taint.
func toleratesSoftly(pod *corev1.Pod, taint *corev1.Taint) bool {
	for i := range pod.Spec.Tolerations {
		toleration := &pod.Spec.Tolerations[i]
		if toleration.Effect != "" && toleration.Effect != corev1.TaintEffectPreferNoSchedule {
			continue
		}
		if tolerates(pod.Spec.Tolerations[i:i+1], taint) {
			return true
		}
	}
	return false
}

func (taintToleration) Normalize(scores []int64) { normalize(scores, true) }
