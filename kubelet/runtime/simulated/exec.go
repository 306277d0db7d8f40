package simulated

import (
	"bytes"
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// unimplemented answers the calls that have no meaning without processes.
type unimplemented struct {
	runtimeapi.RuntimeServiceClient
}

// running returns the behaviour of a container that runs.
func (r *Runtime) running(id string) (Behaviour, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[id]
	if c == nil {
		return Behaviour{}, missing("container", id)
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return Behaviour{}, status.Errorf(codes.FailedPrecondition, "container %q is in state %s", c.id, c.state)
	}
	return c.behaviour, nil
}

// ExecSync implements runtimeapi.RuntimeServiceClient: unless the Behaviour says otherwise every command succeeds and
// says nothing, so that exec probes of running containers pass.
func (r *Runtime) ExecSync(_ context.Context, in *runtimeapi.ExecSyncRequest, _ ...grpc.CallOption) (*runtimeapi.ExecSyncResponse, error) {
	behaviour, err := r.running(in.ContainerId)
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	code := behaviour.run(Command{Args: in.Cmd, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
	return &runtimeapi.ExecSyncResponse{ExitCode: code, Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}, nil
}

// Log returns what a container has written; false for one that doesn't exist.
func (r *Runtime) Log(containerID string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[containerID]
	if c == nil || c.started.IsZero() {
		return nil, c != nil
	}
	return []byte(c.behaviour.Log), true
}

// Ready implements runtime.Readiness.
func (r *Runtime) Ready(containerID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[containerID]
	return c != nil && r.options.Clock.Now().Sub(c.started) >= c.behaviour.ReadyAfter
}

// UpdateContainerResources implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) UpdateContainerResources(_ context.Context, in *runtimeapi.UpdateContainerResourcesRequest, _ ...grpc.CallOption) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[in.ContainerId]
	if c == nil {
		return nil, missing("container", in.ContainerId)
	}
	if c.config.Linux != nil {
		c.config.Linux.Resources = in.Linux
	}
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}

// ReopenContainerLog implements runtimeapi.RuntimeServiceClient: there are no logs.
func (r *Runtime) ReopenContainerLog(context.Context, *runtimeapi.ReopenContainerLogRequest, ...grpc.CallOption) (*runtimeapi.ReopenContainerLogResponse, error) {
	return &runtimeapi.ReopenContainerLogResponse{}, nil
}
