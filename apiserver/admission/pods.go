package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// The two classes that are always there, and what they are worth.
const (
	systemNodeCritical    = "system-node-critical"
	systemClusterCritical = "system-cluster-critical"
	highestUserPriority   = int32(1_000_000_000)
	clusterCritical       = 2 * highestUserPriority
	nodeCritical          = clusterCritical + 1000
)

// evictionSeconds is how long a pod stays on a node that is not ready or not reachable.
const evictionSeconds = 300

// priority gives pods a number for their class. Until classes are served, only the system's own are known.
func priority() plugin {
	return plugin{name: "Priority", mutate: func(_ context.Context, a *registry.Attributes) error {
		pod, ok := podToCreate(a)
		if !ok {
			return nil
		}
		switch pod.Spec.PriorityClassName {
		case systemNodeCritical:
			pod.Spec.Priority = ptr.To(nodeCritical)
		case systemClusterCritical:
			pod.Spec.Priority = ptr.To(clusterCritical)
		case "":
			pod.Spec.Priority = ptr.To[int32](0)
		default:
			return noPriorityClass(a, pod.Spec.PriorityClassName)
		}
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = ptr.To(corev1.PreemptLowerPriority)
		}
		return nil
	}}
}

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

func noPriorityClass(a *registry.Attributes, name string) error {
	return apierrors.NewForbidden(a.Resource.GR(), a.Name, fmt.Errorf("no PriorityClass with name %v was found", name))
}
