package simulated

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// unimplemented answers the calls that have no meaning without processes.
type unimplemented struct {
	runtimeapi.RuntimeServiceClient
}

func refuse(call string) error {
	return status.Errorf(codes.Unimplemented, "a simulated runtime has no %s", call)
}

// ExecSync implements runtimeapi.RuntimeServiceClient: every command succeeds and says nothing, so that exec probes
// of running containers pass.
func (r *Runtime) ExecSync(_ context.Context, in *runtimeapi.ExecSyncRequest, _ ...grpc.CallOption) (*runtimeapi.ExecSyncResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[in.ContainerId]
	if c == nil {
		return nil, missing("container", in.ContainerId)
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q is in state %s", c.id, c.state)
	}
	return &runtimeapi.ExecSyncResponse{}, nil
}

// Exec implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) Exec(context.Context, *runtimeapi.ExecRequest, ...grpc.CallOption) (*runtimeapi.ExecResponse, error) {
	return nil, refuse("exec")
}

// Attach implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) Attach(context.Context, *runtimeapi.AttachRequest, ...grpc.CallOption) (*runtimeapi.AttachResponse, error) {
	return nil, refuse("attach")
}

// PortForward implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) PortForward(context.Context, *runtimeapi.PortForwardRequest, ...grpc.CallOption) (*runtimeapi.PortForwardResponse, error) {
	return nil, refuse("port-forward")
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

// ListContainerStats implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) ListContainerStats(context.Context, *runtimeapi.ListContainerStatsRequest, ...grpc.CallOption) (*runtimeapi.ListContainerStatsResponse, error) {
	return &runtimeapi.ListContainerStatsResponse{}, nil
}

// ListPodSandboxStats implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) ListPodSandboxStats(context.Context, *runtimeapi.ListPodSandboxStatsRequest, ...grpc.CallOption) (*runtimeapi.ListPodSandboxStatsResponse, error) {
	return &runtimeapi.ListPodSandboxStatsResponse{}, nil
}
