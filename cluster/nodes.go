package cluster

import (
	"fmt"
	"net"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// simulatedCapacity is what a simulated node has, unless it says otherwise.
var simulatedCapacity = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("8"),
	corev1.ResourceMemory:           resource.MustParse("32Gi"),
	corev1.ResourcePods:             resource.MustParse("110"),
	corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
}

// AddNodes starts n more simulated nodes.
func (c *Cluster) AddNodes(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		if err := c.addNode(fmt.Sprintf("node-%d", c.nodes)); err != nil {
			return err
		}
		c.nodes++
	}
	return nil
}

// addNode starts a kubelet on a runtime of its own. It is the kubelet of real nodes.
func (c *Cluster) addNode(name string) error {
	loopback := netip.MustParseAddr("127.0.0.1")
	runtime, err := simulated.New(simulated.Options{})
	if err != nil {
		return err
	}
	pair, err := c.ca.Server([]string{name}, []netip.Addr{loopback})
	if err != nil {
		return err
	}
	serving, err := pair.TLS()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	k, err := kubelet.New(kubelet.Options{
		NodeName: name, Config: c.inProcess(apiserver.Identity{Name: "system:node:" + name, Groups: []string{"system:nodes"}}),
		Runtime: runtime, Images: runtime.Images(), NodeIP: loopback, Listener: l, ServingCertificate: &serving, ClientCAs: c.ca.Pool(),
		Capacity: simulatedCapacity, Labels: map[string]string{"type": "simulated"}, ClusterDomain: "cluster.local",
		Logger: c.log.With("component", "kubelet", "node", name),
	})
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	c.group.Go(func() error { return k.Run(c.ctx) })
	return nil
}
