package plan

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// planInit adds what the init containers need and tells whether the pod is initialized, so that main containers may
// start.
//
// The list is read from its end: the last init container that the runtime knows shows how far the pod has come.
// What stands before it has been done (its container may have been cleaned away), except that sidecars must run.
func planInit(in Input, plan *Plan) (initialized bool) {
	containers := in.Pod.Spec.InitContainers
	if len(containers) == 0 {
		return true
	}
	// A main container in this sandbox proves that all init containers are done.
	initialized = anyMainStarted(in.Pod, in.Observed)
	reached := initialized
	var start []int
	for i := len(containers) - 1; i >= 0; i-- {
		container := &containers[i]
		observed := in.Observed.NewestActive(container.Name)
		sidecar := podspec.IsSidecar(container)
		if observed == nil {
			if reached && sidecar {
				start = append(start, i)
			}
			continue
		}
		if reached && !sidecar {
			continue
		}
		step := planInitContainer(in, container, observed)
		if step.fail {
			*plan = Plan{KillPod: in.Observed.Alive(), SandboxID: plan.SandboxID, Attempt: plan.Attempt}
			return false
		}
		if step.done {
			if i == len(containers)-1 {
				initialized = true
			} else if !reached {
				start = append(start, i+1)
			}
		}
		if step.start {
			start = append(start, i)
		}
		if step.stop != nil {
			plan.Stop = append(plan.Stop, *step.stop)
		}
		reached = true
	}
	if !reached {
		start = append(start, 0)
	}
	slices.Reverse(start)
	for _, i := range start {
		plan.Start = append(plan.Start, Start{containers[i].Name, podspec.Init})
	}
	return initialized
}

// initStep is what one init container asks for.
type initStep struct {
	// done: the next one may start.
	done bool
	// start this one (again), or stop it; fail: the pod can never be initialized.
	start bool
	stop  *Stop
	fail  bool
}

func planInitContainer(in Input, container *v1.Container, observed *runtime.Container) initStep {
	sidecar := podspec.IsSidecar(container)
	switch {
	case in.Stopping[observed.ID]:
		return initStep{}
	case observed.State == runtime.StateCreated:
		return initStep{start: true} // the runtime failed to start it
	case observed.State == runtime.StateRunning && sidecar:
		return planSidecar(in, container, observed)
	case observed.State == runtime.StateRunning:
		return initStep{}
	case observed.State == runtime.StateExited && sidecar:
		return initStep{start: true}
	case observed.State == runtime.StateExited && !InitFailed(observed):
		return initStep{done: true}
	case observed.State == runtime.StateExited:
		again := podspec.ShouldRestart(in.Pod, container, observed.ExitCode)
		return initStep{start: again, fail: !again}
	case !sidecar && !restartsAfterFailure(in.Pod, container):
		return initStep{fail: true}
	default:
		stop := stopUnknown(observed, "Init container")
		return initStep{stop: &stop}
	}
}

// planSidecar looks at a sidecar that runs: it lets the next container start once its startup probe succeeded.
func planSidecar(in Input, container *v1.Container, observed *runtime.Container) initStep {
	probes := in.Probes(observed.ID)
	stop := Stop{ContainerID: observed.ID, Name: container.Name, Replace: true}
	if container.StartupProbe != nil && probes.Startup != Success {
		if probes.Startup == Unknown {
			return initStep{}
		}
		stop.Message = fmt.Sprintf("Init container %s failed startup probe", container.Name)
		stop.Reason = StopForStartup
		return initStep{stop: &stop}
	}
	if observed.Hash != runtime.HashContainer(container) {
		stop.Message = fmt.Sprintf("Init container %s definition changed", container.Name)
		stop.Reason = StopForChange
		return initStep{done: true, stop: &stop}
	}
	if container.LivenessProbe != nil && probes.Liveness == Failure {
		stop.Message = fmt.Sprintf("Init container %s failed liveness probe", container.Name)
		stop.Reason = StopForLiveness
		return initStep{done: true, stop: &stop}
	}
	return initStep{done: true}
}

// InitFailed tells whether an init container that ended did not do its work.
func InitFailed(observed *runtime.Container) bool {
	return observed.Reason == "OOMKilled" || observed.State == runtime.StateUnknown ||
		(observed.State == runtime.StateExited && observed.ExitCode != 0)
}

// anyMainStarted tells whether a main container was started in the ready sandbox.
func anyMainStarted(pod *v1.Pod, observed *runtime.Pod) bool {
	for i := range pod.Spec.Containers {
		if c := observed.NewestActive(pod.Spec.Containers[i].Name); c != nil && !c.StartedAt.IsZero() {
			return true
		}
	}
	return false
}

// Initialized tells whether a main container was started in the pod's present sandbox.
func Initialized(pod *v1.Pod, observed *runtime.Pod) bool { return anyMainStarted(pod, observed) }
