package plugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// schedulingGates keeps a pod from being tried until all its gates are taken away.
type schedulingGates struct{}

func (schedulingGates) Name() string { return "SchedulingGates" }

func (schedulingGates) PreEnqueue(pod *corev1.Pod) *framework.Status {
	if len(pod.Spec.SchedulingGates) == 0 {
		return nil
	}
	gates := make([]string, 0, len(pod.Spec.SchedulingGates))
	for _, gate := range pod.Spec.SchedulingGates {
		gates = append(gates, gate.Name)
	}
	return framework.NewStatus(framework.Unresolvable, fmt.Sprintf("waiting for scheduling gates: %v", gates))
}
