package downward

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Resource returns a request or limit of a container as text, in units of the selector's divisor and rounded up:
// limits.cpu of 1500m is "2", with the divisor 1m "1500". containerName stands in when the selector names none.
func Resource(pod *v1.Pod, selector *v1.ResourceFieldSelector, containerName string, facts Facts) (string, error) {
	if selector.ContainerName != "" {
		containerName = selector.ContainerName
	}
	container := find(pod, containerName)
	if container == nil {
		return "", fmt.Errorf("container %s not found", containerName)
	}
	kind, name, found := strings.Cut(selector.Resource, ".")
	if !found || (kind != "limits" && kind != "requests") || !supported(v1.ResourceName(name)) {
		return "", fmt.Errorf("unsupported container resource : %v", selector.Resource)
	}
	quantity := container.Resources.Requests[v1.ResourceName(name)]
	if kind == "limits" {
		quantity = limit(pod, container, v1.ResourceName(name), facts)
	}
	divisor := selector.Divisor
	if divisor.IsZero() {
		divisor = *resource.NewQuantity(1, resource.DecimalSI)
	}
	if name == string(v1.ResourceCPU) {
		return roundUp(quantity.MilliValue(), divisor.MilliValue()), nil
	}
	return roundUp(quantity.Value(), divisor.Value()), nil
}

// limit of a container, else of its pod, else what the node has. Huge pages are never overcommitted, so a missing
// limit is none.
func limit(pod *v1.Pod, container *v1.Container, name v1.ResourceName, facts Facts) resource.Quantity {
	quantity := container.Resources.Limits[name]
	if quantity.IsZero() && pod.Spec.Resources != nil {
		quantity = pod.Spec.Resources.Limits[name]
	}
	if quantity.IsZero() && !isHugePages(name) {
		quantity = facts.Allocatable[name]
	}
	return quantity
}

func supported(name v1.ResourceName) bool {
	switch name {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return true
	default:
		return isHugePages(name)
	}
}

func isHugePages(name v1.ResourceName) bool {
	return strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix)
}

func find(pod *v1.Pod, name string) *v1.Container {
	for _, list := range [][]v1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func roundUp(value, divisor int64) string {
	return strconv.FormatInt(int64(math.Ceil(float64(value)/float64(divisor))), 10)
}
