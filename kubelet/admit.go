package kubelet

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/admission"
	"github.com/kogge-dev/kogge/kubelet/runtime"
	"github.com/kogge-dev/kogge/kubelet/status"
)

// admit decides once whether the node takes the pod. A pod that has begun was taken, by this kubelet or by the one
// before it.
func (k *Kubelet) admit(e *entry, pod *v1.Pod, current *v1.PodStatus, observed *runtime.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.admitted {
		return
	}
	node := k.node.Node()
	if len(observed.Sandboxes) > 0 || current.StartTime != nil {
		e.admitted = true
		return
	}
	var others []*v1.Pod
	for _, other := range k.pods {
		if other == e || !other.admitted {
			continue
		}
		if taken, its, gone := other.view(); taken != nil && !gone && !status.IsTerminal(its.Phase) {
			others = append(others, taken)
		}
	}
	if rejection := admission.Check(pod, others, node); rejection != nil {
		e.verdict = &status.Verdict{Reason: rejection.Reason, Message: "Pod was rejected: " + rejection.Message}
		k.recordPod(pod, v1.EventTypeWarning, rejection.Reason, rejection.Message)
		return
	}
	e.admitted = true
}
