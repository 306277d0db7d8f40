package kubelet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/image"
	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
	"github.com/kogge-dev/kogge/kubelet/volume"
)

// Reasons why a container could not be started, as they stand in its status.
const (
	reasonCrashLoop    = "CrashLoopBackOff"
	reasonConfigError  = "CreateContainerConfigError"
	reasonCreateError  = "CreateContainerError"
	reasonRunError     = "RunContainerError"
	reasonPostStart    = "PostStartHookError"
	retryStart         = 10 * time.Second
	tellBackOff        = 10 * time.Second
	keptDeadContainers = 1
)

// outcome of an attempt to start a container.
type outcome struct {
	started bool
	// waiting: its image is on the way; the pod is synced again when it is there.
	waiting bool
	// retry is when to try again after a failure.
	retry time.Duration
}

// startContainers starts what the plan names, in its order, and returns when to try again what failed.
func (k *Kubelet) startContainers(ctx context.Context, e *entry, pod *v1.Pod, observed *runtime.Pod, p plan.Plan, mounted map[string]volume.Volume) (time.Duration, error) {
	sandbox, err := k.sandboxConfig(pod, p.Attempt)
	if err != nil {
		return 0, err
	}
	if waiting := k.pullVolumes(e, pod, sandbox, mounted); waiting != nil {
		return waiting.retry, nil
	}
	var retry time.Duration
	again := false
	for _, start := range p.Start {
		container, kind := podspec.Container(pod, start.Name)
		a := attempt{k: k, e: e, pod: pod, container: container, kind: kind, observed: observed, sandboxID: p.SandboxID, sandbox: sandbox, mounted: mounted}
		result := a.start(ctx)
		if ctx.Err() != nil {
			return 0, nil
		}
		again = again || result.started
		if result.waiting {
			break // the order of starting is the order of the specification
		}
		if result.retry > 0 && (retry == 0 || result.retry < retry) {
			retry = result.retry
		}
		if !result.started && kind == podspec.Init && !podspec.IsSidecar(container) {
			break
		}
	}
	if again {
		k.pool.Trigger(e.uid) // the status is to show it, whether or not the runtime sends an event
	}
	return retry, nil
}

// pullVolumes makes sure that the images which are volumes are there. It returns nil when they are; else no container
// is started, and each says why.
func (k *Kubelet) pullVolumes(e *entry, pod *v1.Pod, sandbox *runtimeapi.PodSandboxConfig, mounted map[string]volume.Volume) *outcome {
	for i := range pod.Spec.Volumes {
		source := &pod.Spec.Volumes[i]
		if source.Image == nil || k.machine == nil {
			continue
		}
		stand := &v1.Container{Name: source.Name, Image: source.Image.Reference, ImagePullPolicy: source.Image.PullPolicy}
		result := k.images.Ensure(k.background, image.Request{Pod: pod, Container: stand, Secrets: k.pullSecrets(pod), Sandbox: sandbox})
		switch {
		case result.Pending:
			return &outcome{waiting: true}
		case result.Failure != nil:
			for j := range pod.Spec.Containers {
				e.setReason(pod.Spec.Containers[j].Name, result.Failure.Reason, result.Failure.Message)
			}
			return &outcome{retry: result.Failure.Retry}
		}
		mounted[source.Name] = volume.Volume{ReadOnly: true, Image: &runtimeapi.ImageSpec{Image: result.Ref, UserSpecifiedImage: source.Image.Reference}}
	}
	return nil
}

// attempt is one try to start one container.
type attempt struct {
	k         *Kubelet
	e         *entry
	pod       *v1.Pod
	container *v1.Container
	kind      podspec.Kind
	observed  *runtime.Pod
	sandboxID string
	sandbox   *runtimeapi.PodSandboxConfig
	mounted   map[string]volume.Volume
}

func (a attempt) start(ctx context.Context) outcome {
	last := a.lastExited()
	key := a.container.Name + " " + a.container.Image
	if last != nil {
		if wait := a.backOff(key, last.FinishedAt); wait > 0 {
			return outcome{retry: wait}
		}
	}
	result := a.k.images.Ensure(a.k.background, image.Request{
		Pod: a.pod, Container: a.container, Secrets: a.k.pullSecrets(a.pod), Sandbox: a.sandbox,
	})
	switch {
	case result.Pending:
		return outcome{waiting: true}
	case result.Failure != nil:
		if result.Failure.Reason != image.ReasonBackOff {
			a.tell(v1.EventTypeWarning, "Failed", "Error: "+result.Failure.Reason)
		} else if a.e.reasons[a.container.Name].Reason != image.ReasonBackOff {
			a.tell(v1.EventTypeWarning, "Failed", "Error: "+image.ReasonBackOff)
		}
		return a.failed(result.Failure.Reason, result.Failure.Message, result.Failure.Retry)
	}
	if last != nil {
		if a.e.restarts == nil {
			a.e.restarts = map[string]plan.Backoff{}
		}
		a.e.restarts[key] = a.e.restarts[key].Next(last.FinishedAt, a.k.clock.Now())
	}
	return a.run(ctx, result.Ref)
}

// lastExited is the last attempt that ended by itself. One that the kubelet stopped in order to replace it doesn't
// count: its successor is wanted at once.
func (a attempt) lastExited() *runtime.Container {
	for i := range a.observed.Containers {
		c := &a.observed.Containers[i]
		if c.Name == a.container.Name && c.State == runtime.StateExited && !a.e.replacing[c.ID] {
			return c
		}
	}
	return nil
}

// backOff returns how long to wait before the container is started again, and says so.
func (a attempt) backOff(key string, ended time.Time) time.Duration {
	backoff, now := a.e.restarts[key], a.k.clock.Now()
	wait := backoff.Until(ended).Sub(now)
	if wait <= 0 {
		return 0
	}
	if a.e.told == nil {
		a.e.told = map[string]time.Time{}
	}
	if now.Sub(a.e.told[key]) >= tellBackOff {
		a.e.told[key] = now
		a.tell(v1.EventTypeWarning, "BackOff",
			fmt.Sprintf("Back-off restarting failed container %s in pod %s", a.container.Name, podspec.Describe(a.pod)))
	}
	message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", backoff.Delay(), a.container.Name, podspec.Describe(a.pod))
	a.failed(reasonCrashLoop, message, wait)
	return wait
}

// run creates the container, starts it, and runs its postStart hook.
func (a attempt) run(ctx context.Context, imageRef string) outcome {
	if err := a.removeUnstarted(ctx); err != nil {
		return a.refuse(reasonCreateError, err)
	}
	config, err := a.k.containerConfig(ctx, a, imageRef)
	if err != nil {
		return a.refuse(reasonConfigError, err)
	}
	id, err := a.k.runtime.CreateContainer(ctx, a.sandboxID, config, a.sandbox)
	if err != nil {
		return a.refuse(reasonCreateError, err)
	}
	a.tell(v1.EventTypeNormal, "Created", "Container created")
	if err := a.k.runtime.StartContainer(ctx, id); err != nil {
		return a.refuse(reasonRunError, err)
	}
	a.tell(v1.EventTypeNormal, "Started", "Container started")
	delete(a.e.reasons, a.container.Name)
	if err := a.prune(ctx); err != nil {
		a.k.logger.Error("remove old containers", "pod", a.pod.Name, "err", err)
	}
	if a.container.Lifecycle != nil && a.container.Lifecycle.PostStart != nil {
		return a.postStart(ctx, id)
	}
	return outcome{started: true}
}

// removeUnstarted takes away a container that was made but never started, as when a kubelet died in between: it is no
// attempt to run.
func (a attempt) removeUnstarted(ctx context.Context) error {
	last := a.observed.Newest(a.container.Name)
	if last == nil || last.State != runtime.StateCreated {
		return nil
	}
	if err := a.k.runtime.RemoveContainer(ctx, last.ID); err != nil {
		return err
	}
	a.observed.Containers = slices.DeleteFunc(a.observed.Containers, func(c runtime.Container) bool { return c.ID == last.ID })
	return nil
}

// refuse notes why the runtime or the specification made the start impossible.
func (a attempt) refuse(reason string, err error) outcome {
	if runtime.IsUnavailable(err) {
		a.k.runtimeConnected(err) // it says nothing about the container
		return outcome{retry: firstRetry}
	}
	message := runtime.Message(err)
	a.tell(v1.EventTypeWarning, "Failed", "Error: "+message)
	return a.failed(reason, message, retryStart)
}

// failed notes a reason for the status.
func (a attempt) failed(reason, message string, retry time.Duration) outcome {
	a.e.setReason(a.container.Name, reason, message)
	return outcome{retry: retry}
}

func (a attempt) tell(eventType, reason, message string) {
	a.k.recordContainer(a.pod, a.container.Name, a.kind, eventType, reason, message)
}

// prune removes the container's older attempts, but for the last one, whose log and exit are of interest.
func (a attempt) prune(ctx context.Context) error {
	var failures []error
	seen := 0
	for i := range a.observed.Containers {
		c := &a.observed.Containers[i]
		if c.Name != a.container.Name || c.State == runtime.StateRunning {
			continue
		}
		if seen++; seen > keptDeadContainers {
			failures = append(failures, a.k.runtime.RemoveContainer(ctx, c.ID))
		}
	}
	return errors.Join(failures...)
}
