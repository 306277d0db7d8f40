package status

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// A container whose end nobody saw is taken for killed.
const (
	exitCodeLost = 137
	reasonLost   = "ContainerStatusUnknown"
)

func mainStatuses(in Input) []v1.ContainerStatus {
	statuses := make([]v1.ContainerStatus, 0, len(in.Pod.Spec.Containers))
	for i := range in.Pod.Spec.Containers {
		container := &in.Pod.Spec.Containers[i]
		s := containerStatus(in, container, find(in.Old.ContainerStatuses, container.Name), podspec.Main)
		setReadiness(in, container, &s, find(in.Old.ContainerStatuses, container.Name))
		statuses = append(statuses, s)
	}
	slices.SortFunc(statuses, func(a, b v1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) })
	return statuses
}

func initStatuses(in Input) []v1.ContainerStatus {
	var statuses []v1.ContainerStatus
	for i := range in.Pod.Spec.InitContainers {
		container := &in.Pod.Spec.InitContainers[i]
		old := find(in.Old.InitContainerStatuses, container.Name)
		s := containerStatus(in, container, old, podspec.Init)
		if podspec.IsSidecar(container) {
			setReadiness(in, container, &s, old)
		} else {
			started := s.State.Running != nil
			s.Started = &started
			s.Ready = s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		}
		statuses = append(statuses, s)
	}
	return statuses
}

func ephemeralStatuses(in Input) []v1.ContainerStatus {
	var statuses []v1.ContainerStatus
	for i := range in.Pod.Spec.EphemeralContainers {
		container := podspec.FromEphemeral(&in.Pod.Spec.EphemeralContainers[i])
		old := find(in.Old.EphemeralContainerStatuses, container.Name)
		statuses = append(statuses, containerStatus(in, container, old, podspec.Ephemeral))
	}
	slices.SortFunc(statuses, func(a, b v1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) })
	return statuses
}

// containerStatus joins what the runtime shows, the last two attempts, with what was known before, and with the
// reason why no further attempt was made.
func containerStatus(in Input, container *v1.Container, old *v1.ContainerStatus, kind podspec.Kind) v1.ContainerStatus {
	attempts := lastAttempts(in.Observed, container.Name)
	var s v1.ContainerStatus
	if len(attempts) == 0 {
		s = absentStatus(in, container, old, kind)
	} else {
		s = observedStatus(in, container, attempts[0], old)
		if len(attempts) > 1 {
			s.LastTerminationState = containerState(in, attempts[1])
		}
	}
	if kind == podspec.Init && initSettled(in, container, attempts, &s) {
		return s
	}
	reason, failed := in.Reasons[container.Name]
	if failed && plan.ShouldStart(in.Pod, container, in.Observed) {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		s.State = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason.Reason, Message: reason.Message}}
	}
	return s
}

func lastAttempts(observed *runtime.Pod, name string) []*runtime.Container {
	var attempts []*runtime.Container
	for i := range observed.Containers {
		if observed.Containers[i].Name == name && len(attempts) < 2 {
			attempts = append(attempts, &observed.Containers[i])
		}
	}
	return attempts
}

// observedStatus is the status of a container that the runtime has.
func observedStatus(in Input, container *v1.Container, c *runtime.Container, old *v1.ContainerStatus) v1.ContainerStatus {
	s := v1.ContainerStatus{
		Name:               container.Name,
		State:              containerState(in, c),
		RestartCount:       int32(c.RestartCount),
		Image:              c.Image,
		ImageID:            c.ImageID,
		ContainerID:        in.RuntimeName + "://" + c.ID,
		AllocatedResources: container.Resources.Requests,
		Resources:          container.Resources.DeepCopy(),
		VolumeMounts:       volumeMounts(container),
		User:               user(c),
	}
	if old == nil {
		return s
	}
	if old.ContainerID != s.ContainerID && old.State.Terminated != nil {
		s.LastTerminationState.Terminated = old.State.Terminated
	} else {
		s.LastTerminationState.Terminated = old.LastTerminationState.Terminated
	}
	s.RestartCount = max(s.RestartCount, old.RestartCount)
	if c.State == runtime.StateUnknown && old.State.Running != nil {
		// It ran, and now the runtime can't say: taking it for never started could run a job twice.
		s.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			Reason: reasonLost, ExitCode: exitCodeLost,
			Message: "The container could not be located when the pod was terminated",
		}}
		s.RestartCount = old.RestartCount + 1
	}
	return s
}

func containerState(in Input, c *runtime.Container) v1.ContainerState {
	switch c.State {
	case runtime.StateRunning:
		return v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(c.StartedAt)}}
	case runtime.StateExited:
		return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: c.ExitCode, Reason: c.Reason, Message: c.Message, ContainerID: in.RuntimeName + "://" + c.ID,
			StartedAt: metav1.NewTime(c.StartedAt), FinishedAt: metav1.NewTime(c.FinishedAt),
		}}
	default:
		return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{}}
	}
}

// absentStatus is the status of a container that the runtime doesn't have: not yet, or no more.
func absentStatus(in Input, container *v1.Container, old *v1.ContainerStatus, kind podspec.Kind) v1.ContainerStatus {
	waiting := "ContainerCreating"
	if len(in.Pod.Spec.InitContainers) > 0 {
		waiting = "PodInitializing"
	}
	s := v1.ContainerStatus{
		Name: container.Name, Image: container.Image, VolumeMounts: volumeMounts(container),
		State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: waiting}},
	}
	if old == nil {
		return s
	}
	if old.State.Terminated != nil {
		return *old
	}
	s.RestartCount, s.LastTerminationState = old.RestartCount, old.LastTerminationState
	if old.State.Running != nil && s.LastTerminationState.Terminated == nil {
		s.LastTerminationState.Terminated = &v1.ContainerStateTerminated{
			Reason: reasonLost, ExitCode: exitCodeLost,
			Message: "The container could not be located when the pod was deleted.  The container used to be Running",
		}
		if in.Pod.DeletionTimestamp == nil {
			s.RestartCount++
		}
	}
	return s
}

// initSettled tells whether nothing more is to be said about an init container: it did its work, or it must have,
// since the containers behind it were made.
func initSettled(in Input, container *v1.Container, attempts []*runtime.Container, s *v1.ContainerStatus) bool {
	if len(attempts) > 0 {
		return attempts[0].State == runtime.StateExited && attempts[0].ExitCode == 0
	}
	if podspec.IsSidecar(container) || s.State.Waiting == nil || !mainSeen(in) {
		return false
	}
	s.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		Reason:  "Completed",
		Message: "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally",
	}}
	return true
}

func mainSeen(in Input) bool {
	for i := range in.Pod.Spec.Containers {
		if c := in.Observed.Newest(in.Pod.Spec.Containers[i].Name); c != nil && c.State != runtime.StateUnknown {
			return true
		}
	}
	return false
}

// setReadiness derives started and ready from the probes. A probe that has not run yet, since the kubelet was
// restarted, leaves what was said of this very container before.
func setReadiness(in Input, container *v1.Container, s *v1.ContainerStatus, old *v1.ContainerStatus) {
	started, ready := false, false
	if s.State.Running != nil {
		_, id, _ := strings.Cut(s.ContainerID, "://")
		probes := in.Probes(id)
		same := old != nil && old.ContainerID == s.ContainerID
		wasStarted := same && old.Started != nil && *old.Started
		started = container.StartupProbe == nil || probes.Startup == plan.Success || (probes.Startup == plan.Unknown && wasStarted)
		ready = started && (container.ReadinessProbe == nil || probes.Readiness == plan.Success ||
			(probes.Readiness == plan.Unknown && same && old.Ready))
	}
	s.Started, s.Ready = &started, ready
}

// terminateLost gives every container that was begun and of which no end is known an end, so that a finished pod
// shows none as running.
func terminateLost(s *v1.PodStatus, in Input) {
	lost := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		Reason: reasonLost, ExitCode: exitCodeLost,
		Message: "The container could not be located when the pod was terminated",
	}}
	begun := len(s.InitContainerStatuses)
	for begun > 0 && neverStarted(&s.InitContainerStatuses[begun-1]) {
		begun--
	}
	for i := range s.InitContainerStatuses[:begun] {
		if s.InitContainerStatuses[i].State.Terminated == nil {
			s.InitContainerStatuses[i].State = lost
		}
	}
	if !podInitialized(in.Pod, s) {
		return
	}
	for i := range s.ContainerStatuses {
		if s.ContainerStatuses[i].State.Terminated == nil {
			s.ContainerStatuses[i].State = lost
		}
	}
}

func neverStarted(s *v1.ContainerStatus) bool {
	return s.State.Terminated == nil && s.LastTerminationState.Terminated == nil && s.State.Running == nil
}

// podInitialized tells whether main containers may have run: one shows signs of it, or all init containers are done.
func podInitialized(pod *v1.Pod, s *v1.PodStatus) bool {
	if len(pod.Spec.InitContainers) == 0 {
		return true
	}
	for i := range s.ContainerStatuses {
		if !neverStarted(&s.ContainerStatuses[i]) {
			return true
		}
	}
	last := &s.InitContainerStatuses[len(s.InitContainerStatuses)-1]
	if podspec.IsSidecar(&pod.Spec.InitContainers[len(pod.Spec.InitContainers)-1]) {
		return last.Started != nil && *last.Started
	}
	return last.State.Terminated != nil && last.State.Terminated.ExitCode == 0
}

func volumeMounts(container *v1.Container) []v1.VolumeMountStatus {
	var mounts []v1.VolumeMountStatus
	for _, mount := range container.VolumeMounts {
		status := v1.VolumeMountStatus{Name: mount.Name, MountPath: mount.MountPath, ReadOnly: mount.ReadOnly}
		if mount.ReadOnly {
			mode := v1.RecursiveReadOnlyDisabled
			if mount.RecursiveReadOnly != nil && *mount.RecursiveReadOnly != v1.RecursiveReadOnlyDisabled {
				mode = v1.RecursiveReadOnlyEnabled
			}
			status.RecursiveReadOnly = &mode
		}
		mounts = append(mounts, status)
	}
	return mounts
}

func user(c *runtime.Container) *v1.ContainerUser {
	if c.User == nil {
		return nil
	}
	return &v1.ContainerUser{Linux: &v1.LinuxContainerUser{
		UID: c.User.Uid, GID: c.User.Gid, SupplementalGroups: c.User.SupplementalGroups,
	}}
}
