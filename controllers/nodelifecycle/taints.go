package nodelifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditionTaints says which taint a condition's status stands for.
var conditionTaints = []struct {
	kind   corev1.NodeConditionType
	status corev1.ConditionStatus
	key    string
}{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
}

// evictionTaint is the NoExecute taint that a readiness stands for; empty when ready.
func evictionTaint(ready corev1.ConditionStatus) string {
	switch ready {
	case corev1.ConditionFalse:
		return corev1.TaintNodeNotReady
	case corev1.ConditionUnknown:
		return corev1.TaintNodeUnreachable
	}
	return ""
}

// ours says that a taint is this controller's to set and to remove.
func ours(taint *corev1.Taint) bool {
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule:
		return taint.Key == corev1.TaintNodeUnschedulable || slices.ContainsFunc(conditionTaints,
			func(c struct {
				kind   corev1.NodeConditionType
				status corev1.ConditionStatus
				key    string
			}) bool {
				return c.key == taint.Key
			})
	case corev1.TaintEffectNoExecute:
		return taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable
	}
	return false
}

// Taints gives the taints that a node shall have: those of others as they are, and ours as
// its conditions ask. evict allows the NoExecute one; a taint that changes from one kind of
// not ready to the other needs no new permission.
func Taints(node *corev1.Node, evict bool, now time.Time) []corev1.Taint {
	var wanted []corev1.Taint
	for _, c := range conditionTaints {
		if present := condition(node, c.kind); present != nil && present.Status == c.status {
			wanted = append(wanted, corev1.Taint{Key: c.key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	if node.Spec.Unschedulable {
		wanted = append(wanted, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if key := evictionTaint(readiness(node)); key != "" && (evict || evicting(node)) {
		wanted = append(wanted, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
	}
	return merge(node.Spec.Taints, wanted, now)
}

// evicting says that the node has a NoExecute taint of ours.
func evicting(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && ours(&t)
	})
}

// merge keeps present taints that are others' or wanted, with their times, and adds the
// rest of the wanted ones.
func merge(present, wanted []corev1.Taint, now time.Time) []corev1.Taint {
	var merged []corev1.Taint
	for i := range present {
		if !ours(&present[i]) || slices.ContainsFunc(wanted, func(t corev1.Taint) bool { return t.MatchTaint(&present[i]) }) {
			merged = append(merged, present[i])
		}
	}
	for i := range wanted {
		if slices.ContainsFunc(merged, func(t corev1.Taint) bool { return t.MatchTaint(&wanted[i]) }) {
			continue
		}
		added := metav1.NewTime(now)
		wanted[i].TimeAdded = &added
		merged = append(merged, wanted[i])
	}
	return merged
}

// withoutEviction gives the taints without our NoExecute ones.
func withoutEviction(taints []corev1.Taint) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && ours(&t)
	})
}
