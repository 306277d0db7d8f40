package cache

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// Cache holds nodes and pods.
//
// Invariant: nodes[n] has exactly the pods p with pods[p].node == n.
type Cache struct {
	mu    sync.Mutex
	nodes map[string]*framework.NodeInfo
	pods  map[types.UID]placement
	// generation grows with every change; changed has the nodes changed since the last
	// snapshot was brought up to date, and resized says that one came or went.
	generation int64
	// slots is the highest slot given to a node, free are those given back.
	slots   int
	free    []int
	changed map[string]struct{}
	resized bool
}

type placement struct {
	node    string
	assumed bool
}

// New is an empty cache.
func New() *Cache {
	return &Cache{
		nodes: map[string]*framework.NodeInfo{}, pods: map[types.UID]placement{}, changed: map[string]struct{}{},
	}
}

// put replaces a node's info; one without node and pods is dropped.
func (c *Cache) put(name string, info *framework.NodeInfo) {
	before := c.nodes[name]
	if info.Node == nil && len(info.Pods) == 0 {
		delete(c.nodes, name)
		if before != nil {
			c.free = append(c.free, before.Slot)
		}
	} else {
		if info.Slot == 0 {
			info.Slot = c.slot()
		}
		c.generation++
		info.Generation = c.generation
		c.nodes[name] = info
	}
	c.changed[name] = struct{}{}
	c.resized = c.resized || (before == nil || before.Node == nil) != (info.Node == nil)
}

func (c *Cache) slot() (slot int) {
	if last := len(c.free) - 1; last >= 0 {
		slot, c.free = c.free[last], c.free[:last]
		return slot
	}
	c.slots++
	return c.slots
}

func (c *Cache) info(name string) *framework.NodeInfo {
	if info, ok := c.nodes[name]; ok {
		return info
	}
	return &framework.NodeInfo{}
}

// SetNode takes in a new or changed node.
func (c *Cache) SetNode(node *corev1.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(node.Name, c.info(node.Name).WithNode(node))
}

// RemoveNode drops a node. Its pods are remembered until they go too.
func (c *Cache) RemoveNode(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if info, ok := c.nodes[name]; ok {
		c.put(name, info.WithNode(nil))
	}
}

// SetPod takes in a pod that the watch shows on a node. What was assumed of it is thereby
// confirmed or corrected.
func (c *Cache) SetPod(pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(pod)
	c.place(framework.NewPodInfo(pod), placement{node: pod.Spec.NodeName})
}

// RemovePod drops a pod that is gone or has finished.
func (c *Cache) RemovePod(pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(pod)
}

// Assume counts a pod on a node before the watch shows it there.
func (c *Cache) Assume(pod *framework.PodInfo, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if where, ok := c.pods[pod.Pod.UID]; ok {
		return fmt.Errorf("pod %s/%s is on node %s already", pod.Pod.Namespace, pod.Pod.Name, where.node)
	}
	c.place(pod, placement{node: node, assumed: true})
	return nil
}

// Forget takes back what was assumed of a pod. One that the watch has confirmed stays.
func (c *Cache) Forget(pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pods[pod.UID].assumed {
		c.remove(pod)
	}
}

// Assumed says that a pod was placed and not yet confirmed.
func (c *Cache) Assumed(pod *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pods[pod.UID].assumed
}

func (c *Cache) place(pod *framework.PodInfo, where placement) {
	c.pods[pod.Pod.UID] = where
	c.put(where.node, c.info(where.node).WithPod(pod))
}

func (c *Cache) remove(pod *corev1.Pod) {
	where, ok := c.pods[pod.UID]
	if !ok {
		return
	}
	delete(c.pods, pod.UID)
	c.put(where.node, c.info(where.node).WithoutPod(pod))
}
