package kubelet

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/admission"
	"github.com/kogge-dev/kogge/kubelet/runtime"
	"github.com/kogge-dev/kogge/kubelet/status"
)

// admit decides once whether the node takes the pod. A pod that has begun was taken, by this kubelet or by the one
// before it. The scheduler may know more of the node than the kubelet does: before a pod is rejected the
// node is read anew.
func (k *Kubelet) admit(ctx context.Context, e *entry, pod *v1.Pod, current *v1.PodStatus, observed *runtime.Pod) {
	if e.admitted {
		return
	}
	if len(observed.Sandboxes) > 0 || current.StartTime != nil {
		k.take(e)
		return
	}
	rejection := k.check(e, pod)
	if rejection != nil {
		if err := k.node.Refresh(ctx); err != nil {
			k.logger.Warn("read the node before a pod is rejected", "pod", pod.Name, "err", err)
		} else {
			rejection = k.check(e, pod)
		}
	}
	if rejection != nil {
		e.verdict = &status.Verdict{Reason: rejection.Reason, Message: "Pod was rejected: " + rejection.Message}
		k.recordPod(pod, v1.EventTypeWarning, rejection.Reason, rejection.Message)
	}
}

func (k *Kubelet) take(e *entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.admitted = true
}

// check takes the pod, or returns why the node can't.
func (k *Kubelet) check(e *entry, pod *v1.Pod) *admission.Rejection {
	k.mu.Lock()
	defer k.mu.Unlock()
	var others []*v1.Pod
	for _, other := range k.pods {
		if other == e || !other.admitted {
			continue
		}
		if taken, its, gone := other.view(); taken != nil && !gone && !status.IsTerminal(its.Phase) {
			others = append(others, taken)
		}
	}
	rejection := admission.Check(pod, others, k.node.Node())
	e.admitted = rejection == nil
	return rejection
}
