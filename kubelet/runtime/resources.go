package runtime

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// The kernel's units for the cpu controller.
const (
	minShares      = 2
	maxShares      = 262144
	sharesPerCPU   = 1024
	minQuota       = 1000   // microseconds
	quotaPeriod    = 100000 // microseconds
	milliPerCPU    = 1000
	scoreLast      = -997 // oom_score_adj of what the kernel shall kill last
	scoreFirst     = 1000 // and first
	scorePerMemory = 1000 // a container that requests all memory comes 1000 later
)

// CPUShares converts milli-CPUs to the kernel's relative weight: 250m gives 256.
func CPUShares(milliCPU int64) int64 {
	return min(max(milliCPU*sharesPerCPU/milliPerCPU, minShares), maxShares)
}

// CPUQuota converts milli-CPUs to microseconds of a 100 ms period: 250m gives 25000; 0 means no limit.
func CPUQuota(milliCPU int64) int64 {
	if milliCPU == 0 {
		return 0
	}
	return max(milliCPU*quotaPeriod/milliPerCPU, minQuota)
}

// ContainerResources are the cgroup values of a container. memoryCapacity is the node's memory in bytes, for the
// kernel's order of killing.
func ContainerResources(pod *v1.Pod, container *v1.Container, memoryCapacity int64) *runtimeapi.LinuxContainerResources {
	limits := container.Resources.Limits
	cpuLimit, memoryLimit := limits.Cpu(), limits.Memory()
	if whole := pod.Spec.Resources; whole != nil {
		// A container without a limit of its own is held by the pod's.
		if cpuLimit.IsZero() {
			cpuLimit = whole.Limits.Cpu()
		}
		if memoryLimit.IsZero() {
			memoryLimit = whole.Limits.Memory()
		}
	}
	cpuRequest, requested := container.Resources.Requests[v1.ResourceCPU]
	if !requested {
		cpuRequest = *cpuLimit
	}
	resources := linuxResources(cpuRequest, *cpuLimit, *memoryLimit)
	resources.OomScoreAdj = OOMScore(pod, container, memoryCapacity)
	return resources
}

// sandboxResources is what all containers of the pod take together.
func sandboxResources(pod *v1.Pod) *runtimeapi.LinuxContainerResources {
	options := resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
	requests, limits := resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options)
	cpuRequest, requested := requests[v1.ResourceCPU]
	if !requested {
		cpuRequest = *limits.Cpu()
	}
	return linuxResources(cpuRequest, *limits.Cpu(), *limits.Memory())
}

func overheadResources(pod *v1.Pod) *runtimeapi.LinuxContainerResources {
	if pod.Spec.Overhead == nil {
		return &runtimeapi.LinuxContainerResources{}
	}
	cpu := *pod.Spec.Overhead.Cpu()
	return linuxResources(cpu, cpu, *pod.Spec.Overhead.Memory())
}

func linuxResources(cpuRequest, cpuLimit, memoryLimit resource.Quantity) *runtimeapi.LinuxContainerResources {
	return &runtimeapi.LinuxContainerResources{
		CpuShares:          CPUShares(cpuRequest.MilliValue()),
		CpuQuota:           CPUQuota(cpuLimit.MilliValue()),
		CpuPeriod:          quotaPeriod,
		MemoryLimitInBytes: memoryLimit.Value(),
	}
}

// OOMScore is the container's oom_score_adj: guaranteed pods go last, best-effort pods first, and in between a
// container goes the later the more memory it requested. On a node of 8 GiB one that requests 1 GiB gets 875.
func OOMScore(pod *v1.Pod, container *v1.Container, memoryCapacity int64) int64 {
	if podspec.IsNodeCritical(pod) {
		return scoreLast
	}
	switch podspec.QOS(pod) {
	case v1.PodQOSGuaranteed:
		return scoreLast
	case v1.PodQOSBestEffort:
		return scoreFirst
	}
	if memoryCapacity <= 0 {
		return scoreFirst - 1
	}
	request := container.Resources.Requests.Memory().Value()
	if podspec.IsSidecar(container) {
		request = max(request, leastRequest(pod))
	}
	if resourcehelper.IsPodLevelRequestsSet(pod) {
		request += unassignedShare(pod)
	}
	return min(max(scoreFirst-scorePerMemory*request/memoryCapacity, scoreFirst+scoreLast), scoreFirst-1)
}

// leastRequest is the smallest memory request among the main containers: a sidecar must not go before them.
func leastRequest(pod *v1.Pod) int64 {
	least := int64(-1)
	for i := range pod.Spec.Containers {
		if request := pod.Spec.Containers[i].Resources.Requests.Memory().Value(); least < 0 || request < least {
			least = request
		}
	}
	return max(least, 0)
}

// unassignedShare is what the pod requests beyond its containers, divided evenly among them.
func unassignedShare(pod *v1.Pod) int64 {
	containers := int64(len(pod.Spec.Containers))
	for i := range pod.Spec.InitContainers {
		if podspec.IsSidecar(&pod.Spec.InitContainers[i]) {
			containers++
		}
	}
	whole := pod.Spec.Resources.Requests.Memory().Value()
	assigned := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	if rest := whole - assigned.Memory().Value(); rest > 0 && containers > 0 {
		return rest / containers
	}
	return 0
}
