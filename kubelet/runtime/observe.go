package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
)

// Pod reads everything the runtime knows about the pod now. A pod that the runtime doesn't know gives an empty Pod.
func (r *Runtime) Pod(ctx context.Context, uid types.UID) (*Pod, error) {
	selector := map[string]string{kubelettypes.KubernetesPodUIDLabel: string(uid)}
	pod := &Pod{UID: uid}
	sandboxes, err := r.CRI.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{LabelSelector: selector}})
	if err != nil {
		return nil, fmt.Errorf("list sandboxes of pod %s: %w", uid, err)
	}
	for _, sandbox := range sandboxes.Items {
		if err := r.addSandbox(ctx, pod, sandbox); err != nil {
			return nil, err
		}
	}
	containers, err := r.CRI.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: selector}})
	if err != nil {
		return nil, fmt.Errorf("list containers of pod %s: %w", uid, err)
	}
	for _, container := range containers.Containers {
		if err := r.addContainer(ctx, pod, container); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(pod.Sandboxes, func(a, b Sandbox) int { return b.CreatedAt.Compare(a.CreatedAt) })
	slices.SortStableFunc(pod.Containers, func(a, b Container) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.RestartCount, a.RestartCount))
	})
	return pod, nil
}

func (r *Runtime) addSandbox(ctx context.Context, pod *Pod, listed *runtimeapi.PodSandbox) error {
	pod.Name, pod.Namespace = listed.GetMetadata().GetName(), listed.GetMetadata().GetNamespace()
	response, err := r.CRI.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: listed.Id})
	if status.Code(err) == codes.NotFound {
		return nil // removed since it was listed
	}
	if err != nil {
		return fmt.Errorf("status of sandbox %s: %w", listed.Id, err)
	}
	if response.GetStatus() == nil {
		return fmt.Errorf("status of sandbox %s: the runtime sent none", listed.Id)
	}
	pod.Sandboxes = append(pod.Sandboxes, sandboxFromStatus(response.Status))
	return nil
}

func (r *Runtime) addContainer(ctx context.Context, pod *Pod, listed *runtimeapi.Container) error {
	response, err := r.CRI.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: listed.Id})
	if status.Code(err) == codes.NotFound {
		return nil // removed since it was listed
	}
	if err != nil {
		return fmt.Errorf("status of container %s: %w", listed.Id, err)
	}
	if response.GetStatus() == nil {
		return fmt.Errorf("status of container %s: the runtime sent none", listed.Id)
	}
	container := containerFromStatus(response.Status, listed.PodSandboxId)
	pod.Containers = append(pod.Containers, container)
	return nil
}

func sandboxFromStatus(s *runtimeapi.PodSandboxStatus) Sandbox {
	sandbox := Sandbox{
		ID:              s.Id,
		Ready:           s.State == runtimeapi.PodSandboxState_SANDBOX_READY,
		Attempt:         s.GetMetadata().GetAttempt(),
		CreatedAt:       time.Unix(0, s.CreatedAt),
		HostNetwork:     s.GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE,
		NetworkReported: s.Network != nil,
	}
	if ip := s.GetNetwork().GetIp(); ip != "" {
		sandbox.IPs = append(sandbox.IPs, ip)
		for _, additional := range s.Network.AdditionalIps {
			sandbox.IPs = append(sandbox.IPs, additional.Ip)
		}
	}
	return sandbox
}

func containerFromStatus(s *runtimeapi.ContainerStatus, sandboxID string) Container {
	container := Container{
		ID:        s.Id,
		SandboxID: sandboxID,
		Name:      kubelettypes.GetContainerName(s.Labels),
		State:     stateFrom(s.State),
		Image:     s.GetImage().GetImage(),
		ImageID:   s.ImageRef,
		CreatedAt: time.Unix(0, s.CreatedAt),
		LogPath:   s.LogPath,
		Resources: s.GetResources().GetLinux(),
		User:      s.GetUser().GetLinux(),
		Mounts:    s.Mounts,
	}
	container.Hash, container.RestartCount, container.Saved = parseAnnotations(s.Annotations)
	if container.State != StateCreated {
		container.StartedAt = time.Unix(0, s.StartedAt)
	}
	if container.State == StateExited {
		container.FinishedAt = time.Unix(0, s.FinishedAt)
		container.ExitCode, container.Reason = s.ExitCode, s.Reason
		container.Message = terminationMessage(s, container.Saved)
	}
	return container
}

func stateFrom(state runtimeapi.ContainerState) State {
	switch state {
	case runtimeapi.ContainerState_CONTAINER_CREATED:
		return StateCreated
	case runtimeapi.ContainerState_CONTAINER_RUNNING:
		return StateRunning
	case runtimeapi.ContainerState_CONTAINER_EXITED:
		return StateExited
	default:
		return StateUnknown
	}
}
