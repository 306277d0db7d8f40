package cluster

import (
	"sync"

	"github.com/kogge-dev/kogge/cluster/faults"
)

// Faults is where a test has requests fail, slowly answered or their watches ended; see package faults.
func (c *Cluster) Faults() *faults.Set { return c.faults }

// Requests are the last requests, the oldest first, as many as Options.Requests says.
func (c *Cluster) Requests() []faults.Entry { return c.faults.Requests() }

// LoseNode cuts a node off: nothing that its kubelet asks is answered, so that its lease runs out while its containers go on. What it
// returns brings the node back.
func (c *Cluster) LoseNode(name string) (back func()) {
	lost := c.faults.Add(faults.Fault{Match: faults.Match{User: "system:node:" + name}, Drop: true})
	return lost.Remove
}

// LoseStore has the API server fail as it does when etcd is gone: writes and reads that must be fresh are answered with 500, it is
// neither ready nor alive, and watches are silent. What it returns brings the store back, with all that was stored.
func (c *Cluster) LoseStore() (back func()) {
	c.server.CutStore(true)
	return sync.OnceFunc(func() { c.server.CutStore(false) })
}
