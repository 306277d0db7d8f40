package plan

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// SandboxChange tells whether a pod needs a sandbox other than the one it has.
type SandboxChange struct {
	Needed bool
	// Attempt is the number of the sandbox in use, or of the one to make.
	Attempt uint32
	// SandboxID is the newest sandbox that exists; "" when there is none, or when it is of the wrong kind.
	SandboxID string
	// Reason explains Needed in the condition PodReadyToStartContainers.
	Reason string
}

// NeedsSandbox compares the pod with its sandboxes.
func NeedsSandbox(pod *v1.Pod, observed *runtime.Pod) SandboxChange {
	if len(observed.Sandboxes) == 0 {
		return SandboxChange{Needed: true, Reason: "no pod sandbox exists"}
	}
	newest := &observed.Sandboxes[0]
	next := SandboxChange{Needed: true, Attempt: newest.Attempt + 1, SandboxID: newest.ID}
	ready := 0
	for i := range observed.Sandboxes {
		if observed.Sandboxes[i].Ready {
			ready++
		}
	}
	switch {
	case ready > 1:
		next.Reason = "multiple pod sandboxes are ready and need to be reconciled"
	case !newest.Ready:
		next.Reason = "pod sandbox is not ready"
	case newest.HostNetwork != pod.Spec.HostNetwork:
		next.SandboxID, next.Reason = "", "network namespace mode changed and sandbox needs to be recreated"
	case !pod.Spec.HostNetwork && newest.NetworkReported && len(newest.IPs) == 0:
		next.Reason = "pod sandbox has no IP address"
	default:
		return SandboxChange{Attempt: newest.Attempt, SandboxID: newest.ID}
	}
	return next
}
