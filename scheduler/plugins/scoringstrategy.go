package plugins

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// strategy rates a node by how much of each of several resources would be in use.
type strategy struct {
	resources []weightedResource
	rate      func(requested, capacity int64) int64
	// ratio is upstream's RequestedToCapacityRatio: resources without a score don't count,
	// and the mean is rounded.
	ratio bool
}

type weightedResource struct {
	name   corev1.ResourceName
	weight int64
}

func newStrategy(given *configv1.ScoringStrategy) *strategy {
	s := &strategy{rate: least}
	for _, resource := range given.Resources {
		s.resources = append(s.resources, weightedResource{corev1.ResourceName(resource.Name), resource.Weight})
	}
	switch given.Type {
	case configv1.MostAllocated:
		s.rate = most
	case configv1.RequestedToCapacityRatio:
		s.ratio = true
		points := newShape(given.RequestedToCapacityRatio.Shape)
		s.rate = func(requested, capacity int64) int64 {
			if requested > capacity {
				return points.at(100)
			}
			return points.at(requested * 100 / capacity)
		}
	}
	return s
}

func least(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return (capacity - requested) * framework.MaxScore / capacity
}

func most(requested, capacity int64) int64 {
	return min(requested, capacity) * framework.MaxScore / capacity
}

// score is the weighted mean over the resources that the node has, and that the pod asks for
// unless all pods do.
func (s *strategy) score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for _, resource := range s.resources {
		more, used, has := amountsOf(resource.name, pod, node)
		if has == 0 {
			continue
		}
		rated := s.rate(used+more, has)
		if s.ratio && rated <= 0 {
			continue
		}
		sum += rated * resource.weight
		weights += resource.weight
	}
	switch {
	case weights == 0:
		return 0
	case s.ratio:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// amountsOf gives what the pod asks for of a resource, what is in use on the node and what
// it has; that is 0 for what doesn't count. Of CPU and memory silent containers are taken to
// use some.
func amountsOf(name corev1.ResourceName, pod *framework.PodInfo, node *framework.NodeInfo) (more, used, has int64) {
	switch name {
	case corev1.ResourceCPU:
		return pod.Assumed.MilliCPU, node.Assumed.MilliCPU, node.Allocatable.MilliCPU
	case corev1.ResourceMemory:
		return pod.Assumed.Memory, node.Assumed.Memory, node.Allocatable.Memory
	case corev1.ResourceEphemeralStorage:
		return pod.Requests.EphemeralStorage, node.Requested.EphemeralStorage, node.Allocatable.EphemeralStorage
	}
	if more = pod.Requests.Scalar[name]; more == 0 {
		return 0, 0, 0
	}
	return more, node.Requested.Scalar[name], node.Allocatable.Scalar[name]
}
