package cluster

import (
	"fmt"
	"net"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

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

// shared is what all simulated nodes have in common: one watch of pods and one sender of events serve thousands.
type shared struct {
	pods   *kubelet.Informer
	events record.EventBroadcaster
}

// share makes what nodes share, once.
func (c *Cluster) share() error {
	if c.shared.pods != nil {
		return nil
	}
	clients, err := kubernetes.NewForConfig(c.inProcess(apiserver.Identity{Name: "simulated-nodes", Groups: []string{"system:masters"}}))
	if err != nil {
		return err
	}
	if c.shared.pods, err = kubelet.NewInformer(clients.CoreV1(), ""); err != nil {
		return err
	}
	c.shared.events = record.NewBroadcaster(record.WithContext(c.ctx))
	c.shared.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	c.group.Go(func() error {
		defer c.shared.events.Shutdown()
		return c.shared.pods.Run(c.ctx)
	})
	return nil
}

// AddNodes starts n more simulated nodes.
func (c *Cluster) AddNodes(n int) error {
	if n == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.share(); err != nil {
		return err
	}
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
		Pods: c.shared.pods, Events: c.shared.events,
		Logger: c.log.With("component", "kubelet", "node", name),
	})
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	c.group.Go(func() error { return k.Run(c.ctx) })
	return nil
}
