package cache

import (
	"slices"
	"strings"

	"k8s.io/component-helpers/node/topology"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// Snapshot is the cache at one moment. The zero value is an empty cluster.
type Snapshot struct {
	nodes []*framework.NodeInfo
	index map[string]int
	// The nodes whose pods have affinity terms, by name; most clusters have few.
	wishing, avoiding list
	// images is how many nodes have an image, by name.
	images map[string]int
}

// Nodes gives the nodes that are known, zone by zone in turn, so that taking the first
// that fit doesn't fill one zone before the others.
func (s *Snapshot) Nodes() []*framework.NodeInfo { return s.nodes }

// Node gives one node; nil when it isn't known.
func (s *Snapshot) Node(name string) *framework.NodeInfo {
	if at, ok := s.index[name]; ok {
		return s.nodes[at]
	}
	return nil
}

// Wishing gives the nodes with pods that have affinity terms, in no order.
func (s *Snapshot) Wishing() []*framework.NodeInfo { return s.wishing.nodes }

// Avoiding gives the nodes with pods that have required terms against others, in no order.
func (s *Snapshot) Avoiding() []*framework.NodeInfo { return s.avoiding.nodes }

// WithImage is how many nodes have an image.
func (s *Snapshot) WithImage(name string) int { return s.images[name] }

// countImages adds a node's images, sign 1, or takes them away, sign -1.
func (s *Snapshot) countImages(node *framework.NodeInfo, sign int) {
	for name := range node.Images {
		if s.images[name] += sign; s.images[name] == 0 {
			delete(s.images, name)
		}
	}
}

// replace puts a node's new state in the place of the old.
func (s *Snapshot) replace(at int, node *framework.NodeInfo) {
	if before := s.nodes[at]; before.Node != node.Node {
		s.countImages(before, -1)
		s.countImages(node, 1)
	}
	s.nodes[at] = node
	s.note(node)
}

// note keeps the lists of nodes by affinity.
func (s *Snapshot) note(node *framework.NodeInfo) {
	s.wishing.set(node, len(node.Wishing) > 0)
	s.avoiding.set(node, len(node.Avoiding) > 0)
}

// list is some of the nodes, in no order.
type list struct {
	nodes []*framework.NodeInfo
	at    map[string]int
}

func newList() list { return list{at: map[string]int{}} }

// set puts a node's state into the list, or takes it out.
func (l *list) set(node *framework.NodeInfo, in bool) {
	name := node.Node.Name
	at, listed := l.at[name]
	switch {
	case in && listed:
		l.nodes[at] = node
	case in:
		l.at[name] = len(l.nodes)
		l.nodes = append(l.nodes, node)
	case listed:
		last := l.nodes[len(l.nodes)-1]
		l.nodes[at], l.at[last.Node.Name] = last, at
		l.nodes = l.nodes[:len(l.nodes)-1]
		delete(l.at, name)
	}
}

// Update brings a snapshot up to date. There may be one snapshot for each cache.
func (c *Cache) Update(s *Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resized || s.index == nil {
		s.rebuild(c.nodes)
	} else {
		for name := range c.changed {
			if at, ok := s.index[name]; ok {
				s.replace(at, c.nodes[name])
			}
		}
	}
	c.resized = false
	clear(c.changed)
}

// rebuild lists the nodes anew, since one came or went.
func (s *Snapshot) rebuild(nodes map[string]*framework.NodeInfo) {
	zones := map[string][]*framework.NodeInfo{}
	for _, info := range nodes {
		if info.Node != nil {
			key := topology.GetZoneKey(info.Node)
			zones[key] = append(zones[key], info)
		}
	}
	names := make([]string, 0, len(zones))
	longest := 0
	for name, zone := range zones {
		names = append(names, name)
		longest = max(longest, len(zone))
		slices.SortFunc(zone, func(a, b *framework.NodeInfo) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	}
	slices.Sort(names)
	s.nodes = make([]*framework.NodeInfo, 0, len(nodes))
	s.index = make(map[string]int, len(nodes))
	s.wishing, s.avoiding = newList(), newList()
	s.images = map[string]int{}
	for i := range longest {
		for _, name := range names {
			if zone := zones[name]; i < len(zone) {
				s.index[zone[i].Node.Name] = len(s.nodes)
				s.nodes = append(s.nodes, zone[i])
				s.note(zone[i])
				s.countImages(zone[i], 1)
			}
		}
	}
}
