package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// evictionSeconds is how long a pod stays on a node that is not ready or not reachable.
const evictionSeconds = 300

// defaultTolerationSeconds lets pods stay a while on a node in trouble, unless they say otherwise.
func defaultTolerationSeconds() plugin {
	return plugin{name: "DefaultTolerationSeconds", mutate: func(_ context.Context, a *registry.Attributes) error {
		if !isCore(a, "pods") || a.Object == nil || a.Operation == registry.Delete {
			return nil
		}
		pod := a.Object.(*corev1.Pod)
		for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			if !tolerates(pod.Spec.Tolerations, key) {
				pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
					Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](evictionSeconds),
				})
			}
		}
		return nil
	}}
}

func tolerates(ts []corev1.Toleration, key string) bool {
	for _, t := range ts {
		if (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return true
		}
	}
	return false
}

// taintNodesByCondition keeps pods off a new node until it is known to be ready.
func taintNodesByCondition() plugin {
	return plugin{name: "TaintNodesByCondition", mutate: func(_ context.Context, a *registry.Attributes) error {
		if !isCore(a, "nodes") || a.Operation != registry.Create {
			return nil
		}
		node := a.Object.(*corev1.Node)
		taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
		for _, t := range node.Spec.Taints {
			if t.MatchTaint(&taint) {
				return nil
			}
		}
		node.Spec.Taints = append(node.Spec.Taints, taint)
		return nil
	}}
}
