package simulated

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	"k8s.io/utils/clock"
)

// Exit codes of a container that was asked to end, and of one that was killed (128 plus the signal).
const (
	exitTerminated = 128 + 15
	exitKilled     = 128 + 9
)

type container struct {
	id        string
	sandbox   *sandbox
	config    *runtimeapi.ContainerConfig
	state     runtimeapi.ContainerState
	created   time.Time
	started   time.Time
	finished  time.Time
	exitCode  int32
	behaviour Behaviour
	timer     clock.Timer
	ends      map[chan struct{}]struct{} // closed when it ends
}

// CreateContainer implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) CreateContainer(_ context.Context, in *runtimeapi.CreateContainerRequest, _ ...grpc.CallOption) (*runtimeapi.CreateContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sandboxes[in.PodSandboxId]
	if s == nil {
		return nil, missing("sandbox", in.PodSandboxId)
	}
	if !r.images[in.Config.GetImage().GetImage()] {
		return nil, missing("image", in.Config.GetImage().GetImage())
	}
	c := &container{
		id: r.newID(), sandbox: s, config: in.Config, created: r.options.Clock.Now(),
		behaviour: r.options.Behaviour(s.config, in.Config),
	}
	r.containers[c.id] = c
	pod := r.pod(s.uid())
	pod.containers = append(pod.containers, c)
	r.send(s, c.id, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT)
	return &runtimeapi.CreateContainerResponse{ContainerId: c.id}, nil
}

// StartContainer implements runtimeapi.RuntimeServiceClient. It takes as long as the Behaviour says.
func (r *Runtime) StartContainer(ctx context.Context, in *runtimeapi.StartContainerRequest, _ ...grpc.CallOption) (*runtimeapi.StartContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[in.ContainerId]
	if c == nil {
		return nil, missing("container", in.ContainerId)
	}
	if delay := c.behaviour.StartDelay; delay > 0 {
		r.mu.Unlock()
		err := r.wait(ctx, delay)
		r.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_CREATED || !c.sandbox.ready {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q is in state %s", c.id, c.state)
	}
	c.state, c.started = runtimeapi.ContainerState_CONTAINER_RUNNING, r.options.Clock.Now()
	if after := c.behaviour.ExitAfter; after != nil {
		if *after <= 0 {
			r.send(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
			r.end(c, c.behaviour.ExitCode)
			return &runtimeapi.StartContainerResponse{}, nil
		}
		// In a goroutine: a clock may call back while it holds a lock that asking for the time needs.
		c.timer = r.options.Clock.AfterFunc(*after, func() {
			go func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.end(c, c.behaviour.ExitCode)
			}()
		})
	}
	r.send(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
	return &runtimeapi.StartContainerResponse{}, nil
}

// wait lets time pass that a real runtime would take.
func (r *Runtime) wait(ctx context.Context, delay time.Duration) error {
	passed := make(chan struct{})
	timer := r.options.Clock.AfterFunc(delay, func() { close(passed) })
	defer timer.Stop()
	select {
	case <-passed:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// StopContainer implements runtimeapi.RuntimeServiceClient: the container ends at once.
func (r *Runtime) StopContainer(_ context.Context, in *runtimeapi.StopContainerRequest, _ ...grpc.CallOption) (*runtimeapi.StopContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.containers[in.ContainerId]; c != nil {
		code := int32(exitTerminated)
		if in.Timeout == 0 {
			code = exitKilled
		}
		if c.behaviour.StopCode != nil {
			code = *c.behaviour.StopCode
		}
		r.end(c, code)
	}
	return &runtimeapi.StopContainerResponse{}, nil
}

// RemoveContainer implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) RemoveContainer(_ context.Context, in *runtimeapi.RemoveContainerRequest, _ ...grpc.CallOption) (*runtimeapi.RemoveContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.containers[in.ContainerId]; c != nil {
		r.end(c, exitKilled)
		r.remove(c)
	}
	return &runtimeapi.RemoveContainerResponse{}, nil
}

// ContainerStatus implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) ContainerStatus(_ context.Context, in *runtimeapi.ContainerStatusRequest, _ ...grpc.CallOption) (*runtimeapi.ContainerStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[in.ContainerId]
	if c == nil {
		return nil, missing("container", in.ContainerId)
	}
	return &runtimeapi.ContainerStatusResponse{Status: c.status()}, nil
}

// ListContainers implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) ListContainers(_ context.Context, in *runtimeapi.ListContainersRequest, _ ...grpc.CallOption) (*runtimeapi.ListContainersResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	response := &runtimeapi.ListContainersResponse{}
	add := func(c *container) {
		f := in.Filter
		if f.GetId() != "" && f.Id != c.id || f.GetPodSandboxId() != "" && f.PodSandboxId != c.sandbox.id ||
			f.GetState() != nil && f.State.State != c.state || !matches(f.GetLabelSelector(), c.config.Labels) {
			return
		}
		response.Containers = append(response.Containers, &runtimeapi.Container{
			Id: c.id, PodSandboxId: c.sandbox.id, Metadata: c.config.Metadata, Image: c.config.Image,
			ImageRef: c.config.Image.GetImage(), State: c.state, CreatedAt: c.created.UnixNano(),
			Labels: c.config.Labels, Annotations: c.config.Annotations,
		})
	}
	if uid, one := selectedPod(in.Filter.GetLabelSelector()); one {
		if pod := r.pods[uid]; pod != nil {
			for _, c := range pod.containers {
				add(c)
			}
		}
		return response, nil
	}
	for _, c := range r.containers {
		add(c)
	}
	return response, nil
}

// end makes a running container exit, and a created one never start.
func (r *Runtime) end(c *container, code int32) {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if c.state == runtimeapi.ContainerState_CONTAINER_EXITED {
		return
	}
	for ended := range c.ends {
		close(ended)
	}
	c.ends = nil
	c.state, c.exitCode, c.finished = runtimeapi.ContainerState_CONTAINER_EXITED, code, r.options.Clock.Now()
	r.send(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
}

func (r *Runtime) remove(c *container) {
	delete(r.containers, c.id)
	pod := r.pod(c.sandbox.uid())
	pod.containers = slices.DeleteFunc(pod.containers, func(other *container) bool { return other == c })
	r.send(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT)
}

func (c *container) status() *runtimeapi.ContainerStatus {
	s := &runtimeapi.ContainerStatus{
		Id: c.id, Metadata: c.config.Metadata, State: c.state, CreatedAt: c.created.UnixNano(),
		Image:    &runtimeapi.ImageSpec{Image: c.config.GetImage().GetUserSpecifiedImage()},
		ImageRef: c.config.GetImage().GetImage(), ImageId: c.config.GetImage().GetImage(),
		Labels: c.config.Labels, Annotations: c.config.Annotations, Mounts: c.config.Mounts,
		Resources: &runtimeapi.ContainerResources{Linux: c.config.GetLinux().GetResources()},
	}
	if !c.started.IsZero() {
		s.StartedAt = c.started.UnixNano()
	}
	if c.state == runtimeapi.ContainerState_CONTAINER_EXITED {
		s.FinishedAt, s.ExitCode, s.Message = c.finished.UnixNano(), c.exitCode, c.behaviour.Message
		s.Reason = "Completed"
		if c.exitCode != 0 {
			s.Reason = "Error"
		}
		if c.behaviour.Reason != "" && c.exitCode == c.behaviour.ExitCode {
			s.Reason = c.behaviour.Reason
		}
	}
	return s
}

// selectedPod returns the uid that a selector asks for, so that only that pod is looked at.
func selectedPod(selector map[string]string) (uid string, one bool) {
	uid, one = selector[kubelettypes.KubernetesPodUIDLabel]
	return uid, one
}

func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}
