package cgroup

import (
	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// period of the cpu controller, microseconds.
const period = 100000

// Values of a control group; 0 means no limit, and for Shares that it is not set.
type Values struct {
	// Shares is the relative weight on the scale of v1 (1024 a CPU).
	Shares int64
	// Quota is microseconds in each period of 100 ms.
	Quota int64
	// Memory in bytes.
	Memory int64
}

// PodValues are those of a pod's group: its weight is what it requests; it is limited as a whole where every one of
// its containers is.
func PodValues(pod *v1.Pod) Values {
	options := resourcehelper.PodResourcesOptions{}
	requests, limits := resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options)
	values := Values{Shares: runtime.CPUShares(requests.Cpu().MilliValue())}
	if podspec.QOS(pod) == v1.PodQOSBestEffort {
		return values
	}
	if limited(pod, v1.ResourceCPU) {
		values.Quota = runtime.CPUQuota(limits.Cpu().MilliValue())
	}
	if limited(pod, v1.ResourceMemory) {
		values.Memory = limits.Memory().Value()
	}
	return values
}

func limited(pod *v1.Pod, name v1.ResourceName) bool {
	if pod.Spec.Resources != nil {
		if limit, set := pod.Spec.Resources.Limits[name]; set && !limit.IsZero() {
			return true
		}
	}
	for i := range pod.Spec.Containers {
		if limit := pod.Spec.Containers[i].Resources.Limits[name]; limit.IsZero() {
			return false
		}
	}
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if limit := container.Resources.Limits[name]; podspec.IsSidecar(container) && limit.IsZero() {
			return false
		}
	}
	return true
}

// weight converts shares of v1 to the weight of v2, as runtimes do: 2 to 262144 becomes 1 to 10000.
func weight(shares int64) int64 { return 1 + (shares-2)*9999/262142 }
