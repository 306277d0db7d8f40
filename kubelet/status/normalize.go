package status

import (
	v1 "k8s.io/api/core/v1"
)

// maxMessages is how many bytes of termination messages one pod's status may hold, shared by its containers.
const maxMessages = 12 * 1024

// normalize gives the status the precision that it has on the wire (seconds), so that a status read back equals the
// one sent, and shortens termination messages.
func normalize(pod *v1.Pod, s *v1.PodStatus) {
	limit := maxMessages
	if n := len(pod.Spec.Containers) + len(pod.Spec.InitContainers) + len(pod.Spec.EphemeralContainers); n > 0 {
		limit /= n
	}
	if s.StartTime != nil {
		start := s.StartTime.Rfc3339Copy()
		s.StartTime = &start
	}
	for i := range s.Conditions {
		s.Conditions[i].LastProbeTime = s.Conditions[i].LastProbeTime.Rfc3339Copy()
		s.Conditions[i].LastTransitionTime = s.Conditions[i].LastTransitionTime.Rfc3339Copy()
	}
	for _, list := range [][]v1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			normalizeState(&list[i].State, limit)
			normalizeState(&list[i].LastTerminationState, limit)
		}
	}
}

// normalizeState copies before it writes: states may be shared with the old status.
func normalizeState(state *v1.ContainerState, limit int) {
	if state.Running != nil {
		running := *state.Running
		running.StartedAt = running.StartedAt.Rfc3339Copy()
		state.Running = &running
	}
	if state.Terminated != nil {
		terminated := *state.Terminated
		terminated.StartedAt = terminated.StartedAt.Rfc3339Copy()
		terminated.FinishedAt = terminated.FinishedAt.Rfc3339Copy()
		if len(terminated.Message) > limit {
			terminated.Message = terminated.Message[:limit]
		}
		state.Terminated = &terminated
	}
}
