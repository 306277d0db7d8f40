package admission

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
)

// Rejection is why the node doesn't take a pod.
type Rejection struct {
	Reason  string
	Message string
}

// Check returns nil if the node takes the pod beside the others, which it has taken.
func Check(pod *v1.Pod, others []*v1.Pod, node *v1.Node) *Rejection {
	if os := pod.Spec.OS; os != nil && os.Name != v1.Linux {
		return &Rejection{"PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"}
	}
	if os, set := pod.Labels[v1.LabelOSStable]; set && os != string(v1.Linux) {
		return &Rejection{"PodOSSelectorNodeLabelDoesNotMatch", "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"}
	}
	for _, check := range []func(*v1.Pod, []*v1.Pod, *v1.Node) *Rejection{checkResources, checkAffinity, checkPorts, checkTaints} {
		if rejection := check(pod, others, node); rejection != nil {
			return rejection
		}
	}
	return nil
}

func predicate(name, description string) *Rejection {
	return &Rejection{name, fmt.Sprintf("Predicate %s failed: %s", name, description)}
}

// checkResources sums up requests. An extended resource that the node doesn't have is the cluster's to count.
func checkResources(pod *v1.Pod, others []*v1.Pod, node *v1.Node) *Rejection {
	if limit := node.Status.Allocatable.Pods().Value(); int64(len(others)+1) > limit {
		return insufficient(v1.ResourcePods, 1, int64(len(others)), limit)
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	names := make([]v1.ResourceName, 0, len(requests))
	for name := range requests {
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil // whatever the others take
	}
	slices.Sort(names)
	used := v1.ResourceList{}
	for _, other := range others {
		for name, quantity := range resourcehelper.PodRequests(other, resourcehelper.PodResourcesOptions{}) {
			sum := used[name]
			sum.Add(quantity)
			used[name] = sum
		}
	}
	for _, name := range names {
		limit, known := node.Status.Allocatable[name]
		if !known && strings.Contains(string(name), "/") {
			continue
		}
		requested, taken, capacity := amount(name, requests), amount(name, used), amount(name, v1.ResourceList{name: limit})
		if requested > 0 && requested > capacity-taken {
			return insufficient(name, requested, taken, capacity)
		}
	}
	return nil
}

func amount(name v1.ResourceName, list v1.ResourceList) int64 {
	quantity := list[name]
	if name == v1.ResourceCPU {
		return quantity.MilliValue()
	}
	return quantity.Value()
}

func insufficient(name v1.ResourceName, requested, used, capacity int64) *Rejection {
	return &Rejection{
		Reason:  "OutOf" + string(name),
		Message: fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", name, requested, used, capacity),
	}
}

func checkAffinity(pod *v1.Pod, _ []*v1.Pod, node *v1.Node) *Rejection {
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err != nil || !match {
		return predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
	}
	return nil
}

// checkTaints: only NoExecute matters to a pod that is on the node already.
func checkTaints(pod *v1.Pod, _ []*v1.Pod, node *v1.Node) *Rejection {
	_, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoExecute
	}, true)
	if untolerated {
		return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
	}
	return nil
}

func checkPorts(pod *v1.Pod, others []*v1.Pod, _ *v1.Node) *Rejection {
	wanted := hostPorts(pod)
	if len(wanted) == 0 {
		return nil
	}
	for _, other := range others {
		for _, taken := range hostPorts(other) {
			if slices.ContainsFunc(wanted, taken.conflicts) {
				return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
			}
		}
	}
	return nil
}

type hostPort struct {
	ip       string
	protocol v1.Protocol
	port     int32
}

func hostPorts(pod *v1.Pod) []hostPort {
	var ports []hostPort
	add := func(container *v1.Container) {
		for _, p := range container.Ports {
			if p.HostPort <= 0 {
				continue
			}
			port := hostPort{ip: p.HostIP, protocol: p.Protocol, port: p.HostPort}
			if port.ip == "" || port.ip == "::" {
				port.ip = "0.0.0.0"
			}
			if port.protocol == "" {
				port.protocol = v1.ProtocolTCP
			}
			ports = append(ports, port)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if policy := pod.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == v1.ContainerRestartPolicyAlways {
			add(&pod.Spec.InitContainers[i])
		}
	}
	return ports
}

// conflicts: the same port on the same address, where the unspecified address is all of them.
func (p hostPort) conflicts(q hostPort) bool {
	return p.port == q.port && p.protocol == q.protocol && (p.ip == q.ip || p.ip == "0.0.0.0" || q.ip == "0.0.0.0")
}
