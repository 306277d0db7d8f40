package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// counts sums up the containers of a pod for its phase.
type counts struct {
	pendingInit, pendingSidecars, failedInit int
	unknown, running, waiting                int
	stopped, succeeded, final                int
}

// Phase derives the phase from the container statuses in s. terminal: nothing will be restarted. initialized: a
// main container has run in this sandbox, so a sidecar that restarts doesn't put the pod back to Pending.
func Phase(pod *v1.Pod, s *v1.PodStatus, terminal, initialized bool) v1.PodPhase {
	var c counts
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		status := find(s.InitContainerStatuses, container.Name)
		if podspec.IsSidecar(container) {
			c.countSidecar(status)
		} else {
			c.countInit(pod, container, status)
		}
	}
	for i := range pod.Spec.Containers {
		c.countMain(pod, &pod.Spec.Containers[i], find(s.ContainerStatuses, pod.Spec.Containers[i].Name))
	}
	switch {
	case c.failedInit > 0:
		return v1.PodFailed
	case c.pendingInit > 0, c.pendingSidecars > 0 && !initialized, c.waiting > 0:
		return v1.PodPending
	case c.running > 0 && c.unknown == 0:
		return v1.PodRunning
	case c.running > 0 || c.stopped == 0 || c.unknown > 0:
		return v1.PodPending
	case !terminal && c.stopped != c.final:
		return v1.PodRunning // some are about to be restarted
	case c.stopped == c.succeeded:
		return v1.PodSucceeded
	default:
		return v1.PodFailed
	}
}

func (c *counts) countInit(pod *v1.Pod, container *v1.Container, s *v1.ContainerStatus) {
	switch {
	case s == nil, s.State.Running != nil:
		c.pendingInit++
	case s.State.Terminated != nil:
		c.countInitExit(pod, container, s.State.Terminated.ExitCode)
	case s.State.Waiting != nil && s.LastTerminationState.Terminated != nil:
		c.countInitExit(pod, container, s.LastTerminationState.Terminated.ExitCode)
	default:
		c.pendingInit++
	}
}

func (c *counts) countInitExit(pod *v1.Pod, container *v1.Container, exitCode int32) {
	if exitCode != 0 && !podspec.ShouldRestart(pod, container, exitCode) {
		c.failedInit++
	}
}

func (c *counts) countSidecar(s *v1.ContainerStatus) {
	switch {
	case s == nil:
		c.unknown++
	case s.State.Running != nil:
		c.running++
		if s.Started == nil || !*s.Started {
			c.pendingSidecars++
		}
	case s.State.Terminated != nil:
		// A sidecar that ended doesn't count.
	case s.State.Waiting != nil && s.LastTerminationState.Terminated != nil:
	case s.State.Waiting != nil:
		c.pendingSidecars++
		c.waiting++
	default:
		c.pendingSidecars++
		c.unknown++
	}
}

func (c *counts) countMain(pod *v1.Pod, container *v1.Container, s *v1.ContainerStatus) {
	switch {
	case s == nil:
		c.unknown++
	case s.State.Running != nil:
		c.running++
	case s.State.Terminated != nil:
		c.stopped++
		if s.State.Terminated.ExitCode == 0 {
			c.succeeded++
		}
		c.countFinal(pod, container, s.State.Terminated.ExitCode)
	case s.State.Waiting != nil && s.LastTerminationState.Terminated != nil:
		c.stopped++
		c.countFinal(pod, container, s.LastTerminationState.Terminated.ExitCode)
	case s.State.Waiting != nil:
		c.waiting++
	default:
		c.unknown++
	}
}

func (c *counts) countFinal(pod *v1.Pod, container *v1.Container, exitCode int32) {
	if !podspec.ShouldRestart(pod, container, exitCode) {
		c.final++
	}
}

func find(statuses []v1.ContainerStatus, name string) *v1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}
