package framework

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// PodInfo is a pod with what plugins ask of it again and again, worked out once. It is
// immutable.
type PodInfo struct {
	Pod *corev1.Pod
	// Requests is what the pod asks for; Assumed the same with assumed amounts where it
	// asks for nothing (CPU and memory only).
	Requests, Assumed Resources
	// Ports are the host ports that it needs.
	Ports []HostPort
	// Affinity is which other pods it wants near or far.
	Affinity AffinityTerms
}

// HostPort is a port of the node that a pod occupies.
type HostPort struct {
	Protocol corev1.Protocol
	// IP is the node's address that it is bound to; the zero address stands for all.
	IP   string
	Port int32
}

const anyAddress = "0.0.0.0"

// NewPodInfo works out what there is to know of a pod, which must not be changed any more.
func NewPodInfo(pod *corev1.Pod) *PodInfo {
	info := &PodInfo{Pod: pod, Ports: hostPorts(pod), Affinity: ParseAffinity(pod)}
	info.Requests, info.Assumed = podRequests(pod)
	return info
}

func hostPorts(pod *corev1.Pod) (ports []HostPort) {
	collect := func(containers []corev1.Container, sidecarsOnly bool) {
		for i := range containers {
			policy := containers[i].RestartPolicy
			if sidecarsOnly && (policy == nil || *policy != corev1.ContainerRestartPolicyAlways) {
				continue
			}
			for _, port := range containers[i].Ports {
				if port.HostPort <= 0 {
					continue
				}
				host := HostPort{Protocol: port.Protocol, IP: port.HostIP, Port: port.HostPort}
				if host.IP == "" {
					host.IP = anyAddress
				}
				if host.Protocol == "" {
					host.Protocol = corev1.ProtocolTCP
				}
				ports = append(ports, host)
			}
		}
	}
	collect(pod.Spec.InitContainers, true)
	collect(pod.Spec.Containers, false)
	return ports
}

// Conflicts says that two ports can't be had on one node.
func (p HostPort) Conflicts(other HostPort) bool {
	return p.Port == other.Port && p.Protocol == other.Protocol &&
		(p.IP == other.IP || p.IP == anyAddress || other.IP == anyAddress)
}

// NodeInfo is a node with the pods on it, and sums over them. It is immutable: changes
// make a new one, which is what lets a snapshot be taken by copying pointers.
type NodeInfo struct {
	// Node is nil while pods are known to be on a node that isn't known itself.
	Node *corev1.Node
	// Unschedulable and Taints are the node's. They stand here as well because filters ask them of hundreds of nodes for each pod, and where
	// the node itself is, memory is seldom at hand.
	Unschedulable bool
	Taints        []corev1.Taint
	Pods          []*PodInfo
	// Wishing are those of the pods with any affinity term, Avoiding those with a required
	// one against others.
	Wishing, Avoiding []*PodInfo
	// Allocatable is what the node has for pods, AllowedPods how many it takes.
	Allocatable Resources
	AllowedPods int
	// Requested and Assumed are the sums over the pods.
	Requested, Assumed Resources
	// Ports are the host ports in use.
	Ports []HostPort
	// Images are the sizes in bytes of the images on the node, by every name.
	Images map[string]int64
	// Slot is a small number that no other node has, from 1; 0 outside of a cache.
	Slot int
	// Generation grows with every change of any node.
	Generation int64
}

// NewNodeInfo is a node without pods.
func NewNodeInfo(node *corev1.Node) *NodeInfo { return (&NodeInfo{}).WithNode(node) }

// WithNode gives the info with another state of the node; nil when the node is gone.
func (n *NodeInfo) WithNode(node *corev1.Node) *NodeInfo {
	next := *n
	next.Node = node
	next.Allocatable, next.AllowedPods, next.Images = Resources{}, 0, nil
	next.Unschedulable, next.Taints = false, nil
	if node == nil {
		return &next
	}
	next.Unschedulable, next.Taints = node.Spec.Unschedulable, node.Spec.Taints
	next.Allocatable = NewResources(node.Status.Allocatable)
	next.AllowedPods = int(node.Status.Allocatable.Pods().Value())
	if len(node.Status.Images) > 0 {
		next.Images = make(map[string]int64, len(node.Status.Images))
	}
	for i := range node.Status.Images {
		for _, name := range node.Status.Images[i].Names {
			next.Images[name] = node.Status.Images[i].SizeBytes
		}
	}
	return &next
}

// WithPod gives the info with one more pod.
func (n *NodeInfo) WithPod(pod *PodInfo) *NodeInfo {
	next := *n
	next.Pods = append(slices.Clip(n.Pods), pod)
	if pod.Affinity.Any() {
		next.Wishing = append(slices.Clip(n.Wishing), pod)
	}
	if len(pod.Affinity.RequiredAnti) > 0 {
		next.Avoiding = append(slices.Clip(n.Avoiding), pod)
	}
	next.Ports = append(slices.Clip(n.Ports), pod.Ports...)
	next.Requested = n.Requested.plus(&pod.Requests, 1)
	next.Assumed = n.Assumed.plus(&pod.Assumed, 1)
	return &next
}

// WithoutPod gives the info without the pod of that uid; the same info if it has none.
func (n *NodeInfo) WithoutPod(pod *corev1.Pod) *NodeInfo {
	at := slices.IndexFunc(n.Pods, func(p *PodInfo) bool { return p.Pod.UID == pod.UID })
	if at < 0 {
		return n
	}
	gone := n.Pods[at]
	next := *n
	next.Pods = slices.Delete(slices.Clone(n.Pods), at, at+1)
	next.Wishing = without(n.Wishing, gone)
	next.Avoiding = without(n.Avoiding, gone)
	next.Requested = n.Requested.plus(&gone.Requests, -1)
	next.Assumed = n.Assumed.plus(&gone.Assumed, -1)
	if len(gone.Ports) > 0 {
		next.Ports = nil
		for _, pod := range next.Pods {
			next.Ports = append(next.Ports, pod.Ports...)
		}
	}
	return &next
}

// Scratch gives a copy that Drop and Put may change: for trying things on a node, with many
// pods that go and come back.
func (n *NodeInfo) Scratch() *NodeInfo {
	next := *n
	next.Pods, next.Ports = slices.Clone(n.Pods), slices.Clone(n.Ports)
	next.Wishing, next.Avoiding = slices.Clone(n.Wishing), slices.Clone(n.Avoiding)
	return &next
}

// Drop takes a pod off a scratch node.
func (n *NodeInfo) Drop(pod *PodInfo) {
	same := func(other *PodInfo) bool { return other == pod }
	n.Pods = slices.DeleteFunc(n.Pods, same)
	n.Wishing, n.Avoiding = slices.DeleteFunc(n.Wishing, same), slices.DeleteFunc(n.Avoiding, same)
	n.Requested = n.Requested.plus(&pod.Requests, -1)
	n.Assumed = n.Assumed.plus(&pod.Assumed, -1)
	if len(pod.Ports) > 0 {
		n.Ports = n.Ports[:0]
		for _, left := range n.Pods {
			n.Ports = append(n.Ports, left.Ports...)
		}
	}
}

// Put puts a pod on a scratch node.
func (n *NodeInfo) Put(pod *PodInfo) {
	n.Pods = append(n.Pods, pod)
	if pod.Affinity.Any() {
		n.Wishing = append(n.Wishing, pod)
	}
	if len(pod.Affinity.RequiredAnti) > 0 {
		n.Avoiding = append(n.Avoiding, pod)
	}
	n.Ports = append(n.Ports, pod.Ports...)
	n.Requested = n.Requested.plus(&pod.Requests, 1)
	n.Assumed = n.Assumed.plus(&pod.Assumed, 1)
}

func without(pods []*PodInfo, gone *PodInfo) []*PodInfo {
	if at := slices.Index(pods, gone); at >= 0 {
		return slices.Delete(slices.Clone(pods), at, at+1)
	}
	return pods
}

// Priority is the pod's priority; 0 when it has none.
func Priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
