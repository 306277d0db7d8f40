package plan

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// ProbeResult is what a container's probe said last.
type ProbeResult int

// The results of a probe. A probe that never ran is Unknown.
const (
	Unknown ProbeResult = iota
	Success
	Failure
)

// Probes are the results for one container.
type Probes struct {
	Liveness  ProbeResult
	Startup   ProbeResult
	Readiness ProbeResult
}

// Input is all that a Plan depends on.
type Input struct {
	Pod      *v1.Pod
	Observed *runtime.Pod
	// Probes returns the results for a container by its id.
	Probes func(containerID string) Probes
	// Stopping holds the ids of containers that are being stopped: they are neither stopped again nor replaced
	// before they have ended.
	Stopping map[string]bool
	// Replacing holds the ids of containers that were stopped in order to be started afresh, whatever their restart
	// policy says.
	Replacing map[string]bool
}

// Plan is what to do next, in the order of the fields.
type Plan struct {
	// KillPod: stop all containers and sandboxes.
	KillPod bool
	// Stop these containers, but leave the pod alive.
	Stop []Stop
	// CreateSandbox with this Attempt.
	CreateSandbox bool
	Attempt       uint32
	// SandboxID is the sandbox that exists, "" when there is none.
	SandboxID string
	// Start these containers one after the other: ephemeral ones, then init containers, then main ones. If an init
	// container that is no sidecar can't be started, those behind it must wait.
	Start []Start
}

// Why a container is stopped. The reason decides the grace period.
type StopReason string

// The reasons that matter.
const (
	StopForLiveness StopReason = "LivenessProbe"
	StopForStartup  StopReason = "StartupProbe"
	StopForUnknown  StopReason = "Unknown"
	StopForChange   StopReason = "Changed"
)

// Stop names a container to stop.
type Stop struct {
	ContainerID string
	Name        string
	// Message is the text of the event.
	Message string
	Reason  StopReason
	// Replace: a new container follows.
	Replace bool
}

// Start names a container to start.
type Start struct {
	Name string
	Kind podspec.Kind
}

// Compute derives the Plan for a pod that is to run.
func Compute(in Input) Plan {
	change := NeedsSandbox(in.Pod, in.Observed)
	plan := Plan{Attempt: change.Attempt, SandboxID: change.SandboxID}
	if change.Needed {
		plan.KillPod = in.Observed.Alive()
		planSandbox(in, change, &plan)
		return plan
	}
	for i := range in.Pod.Spec.EphemeralContainers {
		// An ephemeral container runs once, whatever becomes of it.
		if name := in.Pod.Spec.EphemeralContainers[i].Name; in.Observed.Newest(name) == nil {
			plan.Start = append(plan.Start, Start{name, podspec.Ephemeral})
		}
	}
	if initialized := planInit(in, &plan); plan.KillPod || !initialized {
		return plan
	}
	planMain(in, &plan)
	return plan
}

// planSandbox decides whether the pod gets a new sandbox, and what runs first in it.
func planSandbox(in Input, change SandboxChange, plan *Plan) {
	if in.Pod.Spec.RestartPolicy == v1.RestartPolicyNever && change.Attempt != 0 && len(in.Observed.Containers) > 0 {
		return // it has run, and must not run twice
	}
	var start []Start
	for i := range in.Pod.Spec.Containers {
		container := &in.Pod.Spec.Containers[i]
		if last := in.Observed.Newest(container.Name); last != nil && last.State == runtime.StateExited &&
			last.ExitCode == 0 && runsOnce(in.Pod, container) {
			continue
		}
		start = append(start, Start{container.Name, podspec.Main})
	}
	if len(start) == 0 && anyMainCreated(in.Pod, in.Observed) {
		return // all has been done
	}
	plan.CreateSandbox = true
	if len(in.Pod.Spec.InitContainers) > 0 {
		start = []Start{{in.Pod.Spec.InitContainers[0].Name, podspec.Init}}
	}
	plan.Start = start
}

// planMain keeps the main containers as they should be.
func planMain(in Input, plan *Plan) {
	kept := 0
	var start []Start
	for i := range in.Pod.Spec.Containers {
		container := &in.Pod.Spec.Containers[i]
		observed := in.Observed.Newest(container.Name)
		switch {
		case observed != nil && in.Stopping[observed.ID]:
			kept++
		case observed == nil || observed.State != runtime.StateRunning:
			if observed != nil && observed.State == runtime.StateUnknown {
				plan.Stop = append(plan.Stop, stopUnknown(observed, "Container"))
				kept++
			} else if ShouldStart(in.Pod, container, in.Observed) || (observed != nil && in.Replacing[observed.ID]) {
				start = append(start, Start{container.Name, podspec.Main})
			}
		default:
			stop, ok := stopMain(in, container, observed)
			if !ok {
				kept++
				continue
			}
			if stop.Replace {
				kept++ // its successor is on the way
			}
			plan.Stop = append(plan.Stop, stop)
		}
	}
	if kept == 0 && len(start) == 0 {
		// Nothing is left to run; sidecars must not keep the pod alive.
		*plan = Plan{KillPod: in.Observed.Alive(), SandboxID: plan.SandboxID, Attempt: plan.Attempt}
		return
	}
	plan.Start = append(plan.Start, start...)
}

func stopMain(in Input, container *v1.Container, observed *runtime.Container) (Stop, bool) {
	stop := Stop{ContainerID: observed.ID, Name: container.Name, Replace: restartsAfterFailure(in.Pod, container)}
	probes := in.Probes(observed.ID)
	switch {
	case observed.Hash != runtime.HashContainer(container):
		stop.Message = fmt.Sprintf("Container %s definition changed", container.Name)
		stop.Reason, stop.Replace = StopForChange, true
	case probes.Liveness == Failure:
		stop.Message = fmt.Sprintf("Container %s failed liveness probe", container.Name)
		stop.Reason = StopForLiveness
	case probes.Startup == Failure:
		stop.Message = fmt.Sprintf("Container %s failed startup probe", container.Name)
		stop.Reason = StopForStartup
	default:
		return Stop{}, false
	}
	if stop.Replace {
		stop.Message += ", will be restarted"
	}
	return stop, true
}

func stopUnknown(observed *runtime.Container, what string) Stop {
	return Stop{
		ContainerID: observed.ID, Name: observed.Name, Reason: StopForUnknown, Replace: true,
		Message: fmt.Sprintf("%s is in %q state, try killing it before restart", what, observed.State),
	}
}

// ShouldStart tells whether a main or ephemeral container that does not run now is to be started.
func ShouldStart(pod *v1.Pod, container *v1.Container, observed *runtime.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	last := observed.Newest(container.Name)
	if last == nil {
		return true
	}
	switch last.State {
	case runtime.StateRunning:
		return false
	case runtime.StateExited:
		return podspec.ShouldRestart(pod, container, last.ExitCode)
	default:
		return true // created but never started, or lost
	}
}

func restartsAfterFailure(pod *v1.Pod, container *v1.Container) bool {
	if container.RestartPolicy != nil {
		return *container.RestartPolicy != v1.ContainerRestartPolicyNever
	}
	return pod.Spec.RestartPolicy != v1.RestartPolicyNever
}

func runsOnce(pod *v1.Pod, container *v1.Container) bool {
	if container.RestartPolicy != nil {
		return *container.RestartPolicy == v1.ContainerRestartPolicyOnFailure
	}
	return pod.Spec.RestartPolicy == v1.RestartPolicyOnFailure
}

func anyMainCreated(pod *v1.Pod, observed *runtime.Pod) bool {
	for i := range pod.Spec.Containers {
		if c := observed.Newest(pod.Spec.Containers[i].Name); c != nil && c.State != runtime.StateUnknown {
			return true
		}
	}
	return false
}
