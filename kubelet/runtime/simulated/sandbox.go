package simulated

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type sandbox struct {
	id      string
	config  *runtimeapi.PodSandboxConfig
	ready   bool
	created time.Time
	address netip.Addr
	// home is the allocator that the address goes back to: the range may have changed since.
	home *allocator
}

// RunPodSandbox implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) RunPodSandbox(_ context.Context, in *runtimeapi.RunPodSandboxRequest, _ ...grpc.CallOption) (*runtimeapi.RunPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	uid := in.GetConfig().GetMetadata().GetUid()
	if uid == "" {
		return nil, status.Error(codes.InvalidArgument, "sandbox config must include metadata with a uid")
	}
	s := &sandbox{id: r.newID(), config: in.Config, ready: true, created: r.options.Clock.Now()}
	if !s.hostNetwork() {
		address, ok := r.addresses.take()
		if !ok {
			return nil, status.Errorf(codes.ResourceExhausted, "no free address in range %s", r.addresses.prefix)
		}
		s.address, s.home = address, r.addresses
	}
	r.sandboxes[s.id] = s
	r.pod(uid).sandboxes = append(r.pod(uid).sandboxes, s)
	r.send(s, s.id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: s.id}, nil
}

// StopPodSandbox implements runtimeapi.RuntimeServiceClient: its containers are killed.
func (r *Runtime) StopPodSandbox(_ context.Context, in *runtimeapi.StopPodSandboxRequest, _ ...grpc.CallOption) (*runtimeapi.StopPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sandboxes[in.PodSandboxId]; s != nil {
		r.stopSandbox(s)
	}
	return &runtimeapi.StopPodSandboxResponse{}, nil
}

func (r *Runtime) stopSandbox(s *sandbox) {
	for _, c := range r.pod(s.uid()).containers {
		if c.sandbox == s {
			r.end(c, exitKilled)
		}
	}
	if !s.ready {
		return
	}
	s.ready = false
	if s.home != nil {
		s.home.free(s.address)
	}
	r.send(s, s.id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
}

// RemovePodSandbox implements runtimeapi.RuntimeServiceClient: its containers go with it.
func (r *Runtime) RemovePodSandbox(_ context.Context, in *runtimeapi.RemovePodSandboxRequest, _ ...grpc.CallOption) (*runtimeapi.RemovePodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sandboxes[in.PodSandboxId]
	if s == nil {
		return &runtimeapi.RemovePodSandboxResponse{}, nil
	}
	r.stopSandbox(s)
	pod := r.pod(s.uid())
	for _, c := range slices.Clone(pod.containers) {
		if c.sandbox == s {
			r.remove(c)
		}
	}
	delete(r.sandboxes, s.id)
	pod.sandboxes = slices.DeleteFunc(pod.sandboxes, func(other *sandbox) bool { return other == s })
	if len(pod.sandboxes) == 0 {
		delete(r.pods, s.uid())
	}
	r.send(s, s.id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT)
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

// PodSandboxStatus implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) PodSandboxStatus(_ context.Context, in *runtimeapi.PodSandboxStatusRequest, _ ...grpc.CallOption) (*runtimeapi.PodSandboxStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sandboxes[in.PodSandboxId]
	if s == nil {
		return nil, missing("sandbox", in.PodSandboxId)
	}
	return &runtimeapi.PodSandboxStatusResponse{Status: s.status()}, nil
}

// ListPodSandbox implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) ListPodSandbox(_ context.Context, in *runtimeapi.ListPodSandboxRequest, _ ...grpc.CallOption) (*runtimeapi.ListPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	response := &runtimeapi.ListPodSandboxResponse{}
	add := func(s *sandbox) {
		f := in.Filter
		if f.GetId() != "" && f.Id != s.id || f.GetState() != nil && f.State.State != s.state() || !matches(f.GetLabelSelector(), s.config.Labels) {
			return
		}
		response.Items = append(response.Items, &runtimeapi.PodSandbox{
			Id: s.id, Metadata: s.config.Metadata, State: s.state(), CreatedAt: s.created.UnixNano(),
			Labels: s.config.Labels, Annotations: s.config.Annotations,
		})
	}
	if uid, one := selectedPod(in.Filter.GetLabelSelector()); one {
		if pod := r.pods[uid]; pod != nil {
			for _, s := range pod.sandboxes {
				add(s)
			}
		}
		return response, nil
	}
	for _, s := range r.sandboxes {
		add(s)
	}
	return response, nil
}

func (s *sandbox) uid() string { return s.config.Metadata.Uid }

func (s *sandbox) hostNetwork() bool {
	return s.config.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE
}

func (s *sandbox) state() runtimeapi.PodSandboxState {
	if s.ready {
		return runtimeapi.PodSandboxState_SANDBOX_READY
	}
	return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
}

func (s *sandbox) status() *runtimeapi.PodSandboxStatus {
	network := &runtimeapi.PodSandboxNetworkStatus{}
	if s.address.IsValid() {
		network.Ip = s.address.String()
	}
	return &runtimeapi.PodSandboxStatus{
		Id: s.id, Metadata: s.config.Metadata, State: s.state(), CreatedAt: s.created.UnixNano(), Network: network,
		Labels: s.config.Labels, Annotations: s.config.Annotations,
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{
			Options: s.config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
	}
}

func (r *Runtime) pod(uid string) *pod {
	p := r.pods[uid]
	if p == nil {
		p = &pod{}
		r.pods[uid] = p
	}
	return p
}

// newID looks like a real runtime's: 64 hexadecimal digits.
func (r *Runtime) newID() string {
	r.serial++
	return fmt.Sprintf("%064x", r.serial)
}
