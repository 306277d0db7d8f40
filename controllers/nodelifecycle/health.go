package nodelifecycle

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// monitorPeriod is how often a node is looked at (--node-monitor-period).
	monitorPeriod = 5 * time.Second
	// gracePeriod is how long a node may be silent (--node-monitor-grace-period).
	gracePeriod = 50 * time.Second
	// startupGracePeriod is how long a new node may take to say its first word.
	startupGracePeriod = 60 * time.Second
)

// Health is what is remembered of a node between two looks.
type Health struct {
	// Heard is when something new from the node was last seen, by the controller's clock.
	Heard time.Time
	// Heartbeat and Renewed are what was seen then: the Ready condition's heartbeat and
	// the lease's renewal, by the node's clock. They are compared, never measured with.
	Heartbeat time.Time
	Renewed   time.Time
}

// Observe brings the memory up to date. lease may be nil.
func (h Health) Observe(node *corev1.Node, lease *coordinationv1.Lease, now time.Time) Health {
	first := h.Heard.IsZero()
	if ready := condition(node, corev1.NodeReady); ready != nil && !ready.LastHeartbeatTime.Time.Equal(h.Heartbeat) {
		h.Heartbeat = ready.LastHeartbeatTime.Time
		h.Heard = now
	}
	if lease != nil && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(h.Renewed) {
		h.Renewed = lease.Spec.RenewTime.Time
		h.Heard = now
	}
	switch {
	case !first || !h.Heard.IsZero():
	case condition(node, corev1.NodeReady) == nil:
		h.Heard = node.CreationTimestamp.Time // never a word yet
	default:
		h.Heard = now // who just started can't know since when it is silent
	}
	return h
}

// Silent says that the node has been silent for too long.
func (h Health) Silent(node *corev1.Node, now time.Time) bool {
	grace := gracePeriod
	if condition(node, corev1.NodeReady) == nil {
		grace = startupGracePeriod
	}
	return now.After(h.Heard.Add(grace))
}

// kubeletConditions are those that become Unknown when the kubelet is silent. The network
// condition isn't the kubelet's, so it stays.
var kubeletConditions = []corev1.NodeConditionType{
	corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
}

// LostConditions gives the conditions of a silent node.
func LostConditions(node *corev1.Node, now time.Time) []corev1.NodeCondition {
	conditions := slices.Clone(node.Status.Conditions)
	for _, kind := range kubeletConditions {
		at := slices.IndexFunc(conditions, func(c corev1.NodeCondition) bool { return c.Type == kind })
		switch {
		case at < 0:
			conditions = append(conditions, corev1.NodeCondition{
				Type: kind, Status: corev1.ConditionUnknown,
				Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
				LastHeartbeatTime: node.CreationTimestamp, LastTransitionTime: metav1.NewTime(now),
			})
		case conditions[at].Status != corev1.ConditionUnknown:
			conditions[at].Status = corev1.ConditionUnknown
			conditions[at].Reason = "NodeStatusUnknown"
			conditions[at].Message = "Kubelet stopped posting node status."
			conditions[at].LastTransitionTime = metav1.NewTime(now)
		}
	}
	return conditions
}

func condition(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == kind {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

// readiness is the status of the Ready condition; empty when there is none.
func readiness(node *corev1.Node) corev1.ConditionStatus {
	if ready := condition(node, corev1.NodeReady); ready != nil {
		return ready.Status
	}
	return ""
}
