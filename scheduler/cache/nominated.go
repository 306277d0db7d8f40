package cache

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// Nominated is the pods for which room was made on a node and that aren't there yet. It is
// safe for concurrent use.
type Nominated struct {
	mu     sync.Mutex
	byNode map[string][]*framework.PodInfo
	nodeOf map[types.UID]string
}

// NewNominated knows of none.
func NewNominated() *Nominated {
	return &Nominated{byNode: map[string][]*framework.PodInfo{}, nodeOf: map[types.UID]string{}}
}

// Set notes the node of a pod, or its new state; node "" takes it back.
func (n *Nominated) Set(pod *framework.PodInfo, node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.remove(pod.Pod.UID)
	if node != "" {
		n.nodeOf[pod.Pod.UID] = node
		n.byNode[node] = append(n.byNode[node], pod)
	}
}

// Remove forgets a pod.
func (n *Nominated) Remove(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.remove(uid)
}

func (n *Nominated) remove(uid types.UID) {
	node, ok := n.nodeOf[uid]
	if !ok {
		return
	}
	delete(n.nodeOf, uid)
	// Anew, since On has given the old list away.
	left := slices.DeleteFunc(slices.Clone(n.byNode[node]), func(pod *framework.PodInfo) bool { return pod.Pod.UID == uid })
	if n.byNode[node] = left; len(left) == 0 {
		delete(n.byNode, node)
	}
}

// On gives the pods that are nominated for a node.
func (n *Nominated) On(node string) []*framework.PodInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byNode[node]
}

// NodeOf gives the node that a pod is nominated for; "" for none.
func (n *Nominated) NodeOf(uid types.UID) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.nodeOf[uid]
}

// Any says that there are nominated pods at all.
func (n *Nominated) Any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.nodeOf) > 0
}
