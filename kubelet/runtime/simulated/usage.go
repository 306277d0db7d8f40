package simulated

import (
	"context"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ListContainerStats implements runtimeapi.RuntimeServiceClient: containers that run use what their Behaviour says, at
// a constant rate.
func (r *Runtime) ListContainerStats(context.Context, *runtimeapi.ListContainerStatsRequest, ...grpc.CallOption) (*runtimeapi.ListContainerStatsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	response := &runtimeapi.ListContainerStatsResponse{}
	for _, c := range r.containers {
		if c.state == runtimeapi.ContainerState_CONTAINER_RUNNING {
			response.Stats = append(response.Stats, r.usage(c))
		}
	}
	return response, nil
}

// ListPodSandboxStats implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) ListPodSandboxStats(context.Context, *runtimeapi.ListPodSandboxStatsRequest, ...grpc.CallOption) (*runtimeapi.ListPodSandboxStatsResponse, error) {
	return &runtimeapi.ListPodSandboxStatsResponse{}, nil
}

func (r *Runtime) usage(c *container) *runtimeapi.ContainerStats {
	now := r.options.Clock.Now()
	used := uint64(float64(c.behaviour.CPU) * max(now.Sub(c.started).Seconds(), 0))
	figure := func(n uint64) *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{Value: n} }
	return &runtimeapi.ContainerStats{
		Attributes: &runtimeapi.ContainerAttributes{Id: c.id, Metadata: c.config.Metadata, Labels: c.config.Labels, Annotations: c.config.Annotations},
		Cpu:        &runtimeapi.CpuUsage{Timestamp: now.UnixNano(), UsageCoreNanoSeconds: figure(used), UsageNanoCores: figure(c.behaviour.CPU)},
		Memory: &runtimeapi.MemoryUsage{Timestamp: now.UnixNano(), WorkingSetBytes: figure(c.behaviour.Memory),
			UsageBytes: figure(c.behaviour.Memory), RssBytes: figure(c.behaviour.Memory)},
	}
}
