package fleet

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kogge-dev/kogge/cluster/stages"
)

// NodeTemplate says what simulated nodes are like. The zero value makes nodes of 8 processors and 32 GiB.
type NodeTemplate struct {
	// Capacity of each node; what it doesn't name of cpu, memory, pods and ephemeral-storage has its default, and
	// extended resources stand beside them. All of it is allocatable.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Labels of each node, beside those that every kubelet sets and type=simulated.
	Labels map[string]string `json:"labels,omitempty"`
	Taints []corev1.Taint    `json:"taints,omitempty"`
	// Region and Zones become the labels topology.kubernetes.io/region and zone: node i is in zone i modulo their
	// number, so the zones' sizes differ by one at most.
	Region string   `json:"region,omitempty"`
	Zones  []string `json:"zones,omitempty"`
	// Prefix of the nodes' names, "node-" by default; their number follows, from 0.
	Prefix string `json:"prefix,omitempty"`
}

// Ranges of addresses. Node addresses are of the range for benchmarks (RFC 2544), which no real network has; each
// node has a /24 of PodRange for its pods.
var (
	NodeRange = netip.MustParsePrefix("198.18.0.0/15")
	PodRange  = netip.MustParsePrefix("10.128.0.0/9")
)

const defaultPrefix = "node-"

// MostNodes is how many parts PodRange has.
const MostNodes = 1 << 15

// simulatedCapacity is what a simulated node has, unless its template says otherwise.
var simulatedCapacity = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("8"),
	corev1.ResourceMemory:           resource.MustParse("32Gi"),
	corev1.ResourcePods:             resource.MustParse("110"),
	corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
}

// spec is one node.
type spec struct {
	name     string
	address  netip.Addr
	podRange netip.Prefix
	labels   map[string]string
	taints   []corev1.Taint
	capacity corev1.ResourceList
}

// Name of the index-th node.
func (t NodeTemplate) Name(index int) string {
	return cmp.Or(t.Prefix, defaultPrefix) + strconv.Itoa(index)
}

// Owns tells whether a node's name is of the template.
func (t NodeTemplate) Owns(name string) bool {
	_, ours := t.index(name)
	return ours
}

// index is the number in a node's name; false for one that is not named by the template.
func (t NodeTemplate) index(name string) (int, bool) {
	number, found := strings.CutPrefix(name, cmp.Or(t.Prefix, defaultPrefix))
	index, err := strconv.Atoi(number)
	return index, found && err == nil && t.Name(index) == name
}

// Find is what stages may know of a node by its name; false for one that is not named by the template.
func (t NodeTemplate) Find(name string) (stages.Node, bool) {
	index, ours := t.index(name)
	if !ours || index < 0 || index >= MostNodes {
		return stages.Node{}, false
	}
	n := t.node(index)
	return stages.Node{Address: n.address, Port: port, PodRange: n.podRange}, true
}

// node is the index-th node of the template.
func (t NodeTemplate) node(index int) spec {
	labels := map[string]string{"type": "simulated"}
	maps.Copy(labels, t.Labels)
	if t.Region != "" {
		labels[corev1.LabelTopologyRegion] = t.Region
	}
	if len(t.Zones) > 0 {
		labels[corev1.LabelTopologyZone] = t.Zones[index%len(t.Zones)]
	}
	capacity := maps.Clone(simulatedCapacity)
	maps.Copy(capacity, t.Capacity)
	return spec{
		name: t.Name(index), address: plus(NodeRange.Addr(), index+1),
		podRange: netip.PrefixFrom(plus(PodRange.Addr(), index<<8), 24),
		labels:   labels, taints: slices.Clone(t.Taints), capacity: capacity,
	}
}

// plus is the n-th IPv4 address after a.
func plus(a netip.Addr, n int) netip.Addr {
	b := a.As4()
	sum := (int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])) + n
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}
