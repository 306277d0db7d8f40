package runtime

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Runtime speaks to one container runtime. It holds no state of its own.
type Runtime struct {
	// CRI and Images are the runtime's two services. Calls that need no translation go to them directly.
	CRI    runtimeapi.RuntimeServiceClient
	Images runtimeapi.ImageServiceClient
}

// New returns a Runtime over the two services.
func New(services runtimeapi.RuntimeServiceClient, images runtimeapi.ImageServiceClient) *Runtime {
	return &Runtime{CRI: services, Images: images}
}

// RunSandbox creates and starts a sandbox and returns its id. An error is the runtime's own, so that its text can
// go into an event.
func (r *Runtime) RunSandbox(ctx context.Context, config *runtimeapi.PodSandboxConfig, handler string) (string, error) {
	response, err := r.CRI.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config, RuntimeHandler: handler})
	if err != nil {
		return "", err
	}
	return response.PodSandboxId, nil
}

// StopSandbox ends the sandbox and whatever still runs in it; a sandbox that is gone is no error.
func (r *Runtime) StopSandbox(ctx context.Context, id string) error {
	_, err := r.CRI.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id})
	return unlessMissing(err)
}

// RemoveSandbox removes the sandbox with its containers; one that is gone is no error.
func (r *Runtime) RemoveSandbox(ctx context.Context, id string) error {
	_, err := r.CRI.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id})
	return unlessMissing(err)
}

// CreateContainer makes a container in the sandbox and returns its id.
func (r *Runtime) CreateContainer(ctx context.Context, sandboxID string, config *runtimeapi.ContainerConfig, sandbox *runtimeapi.PodSandboxConfig) (string, error) {
	response, err := r.CRI.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{PodSandboxId: sandboxID, Config: config, SandboxConfig: sandbox})
	if err != nil {
		return "", err
	}
	return response.ContainerId, nil
}

// StartContainer starts a created container.
func (r *Runtime) StartContainer(ctx context.Context, id string) error {
	_, err := r.CRI.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: id})
	return err
}

// StopContainer asks the container to end, and kills it after grace seconds. It returns when the container has
// ended; one that is gone is no error.
func (r *Runtime) StopContainer(ctx context.Context, id string, grace int64) error {
	_, err := r.CRI.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: grace})
	return unlessMissing(err)
}

// RemoveContainer removes a container; one that is gone is no error.
func (r *Runtime) RemoveContainer(ctx context.Context, id string) error {
	_, err := r.CRI.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: id})
	return unlessMissing(err)
}

// Name returns the runtime's name and version, as in "containerd://2.4.2".
func (r *Runtime) Name(ctx context.Context) (name, version string, err error) {
	response, err := r.CRI.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return "", "", fmt.Errorf("runtime version: %w", err)
	}
	return response.RuntimeName, response.RuntimeVersion, nil
}

// Message is the text of a runtime's error without gRPC's wrapping, fit for an event.
func Message(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

// IsUnavailable tells whether the error says that the runtime can't be reached now, so that nothing was tried.
func IsUnavailable(err error) bool {
	return status.Code(err) == codes.Unavailable
}

func unlessMissing(err error) error {
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}
