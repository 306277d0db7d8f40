package island

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
)

// Spec is what a cluster was created with. It stands in the cluster's directory, and never changes.
type Spec struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Port is the API server's on the host's 127.0.0.1.
	Port int `json:"port"`
	// Registries lets the nodes' runtimes pull images from registries, by way of a proxy on this machine.
	Registries bool `json:"registries"`
	// Binaries is the directory of kogge and of what it needs beside it: containerd, its shim, ctr, cni/, images/.
	Binaries string `json:"binaries"`
}

// Addresses inside an island. They exist there alone, so all clusters have the same ones.
var (
	// NodeRange holds the bridge (its first address) and the nodes.
	NodeRange = netip.MustParsePrefix("172.31.0.0/16")
	// PodRange is handed out to the nodes, a /24 each.
	PodRange = netip.MustParsePrefix("10.244.0.0/16")
	// ServiceRange holds the cluster addresses of Services; its first is the API server's.
	ServiceRange = netip.MustParsePrefix("10.96.0.0/16")
)

const (
	// NodePort is the API server's port on the bridge's address.
	NodePort = 6443
	// MirrorPort is the port of the registry mirror on the bridge's address.
	MirrorPort = 5000
	// PullPort is the port of the proxy to registries on the bridge's address.
	PullPort = 3128
	// PodRangePerNode is the length of each node's share of PodRange.
	PodRangePerNode = 24
	// mostNodes is how many shares PodRange has.
	mostNodes = 256
	// Domain is the cluster's DNS domain.
	Domain = "cluster.local"
	// Issuer names who issues ServiceAccount tokens, as kubeadm does.
	Issuer = "https://kubernetes.default.svc." + Domain
)

// Bridge is the bridge's address: the API server's, as nodes see it.
func Bridge() netip.Addr { return NodeRange.Addr().Next() }

// APIServiceAddress is the cluster address of the Service "kubernetes".
func APIServiceAddress() netip.Addr { return ServiceRange.Addr().Next() }

// Node is one of a cluster's nodes.
type Node struct {
	// Name is the Node object's: the cluster's name and a number, from 1.
	Name    string
	Index   int
	Address netip.Addr
}

// Containers tells whether there are node containers: without them a cluster needs no privileges.
func (s Spec) Containers() bool { return s.Nodes > 0 }

// NodeList lists the cluster's nodes.
func (s Spec) NodeList() []Node {
	nodes := make([]Node, 0, s.Nodes)
	address := Bridge()
	for index := 1; index <= s.Nodes; index++ {
		address = address.Next()
		nodes = append(nodes, Node{Name: s.Name + "-" + strconv.Itoa(index), Index: index, Address: address})
	}
	return nodes
}

// Context is the name of the cluster's context in a kubeconfig.
func (s Spec) Context() string { return ContextName(s.Name) }

// ContextName is the name of a cluster's context in a kubeconfig.
func ContextName(cluster string) string { return "kogge-" + cluster }

// clusterName is what a cluster may be called: its nodes' names and its cgroup are made from it.
var clusterName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$`)

// Validate says what is wrong with a spec.
func (s Spec) Validate() error {
	if !clusterName.MatchString(s.Name) {
		return fmt.Errorf("cluster name %q must consist of lower-case letters, digits and inner hyphens, at most 50", s.Name)
	}
	if s.Nodes < 0 || s.Nodes > mostNodes {
		return fmt.Errorf("%d nodes: must be 0 to %d", s.Nodes, mostNodes)
	}
	return nil
}
