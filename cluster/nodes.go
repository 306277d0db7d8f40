package cluster

import (
	"context"
	"net"

	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/stages"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// NodeTemplate says what simulated nodes are like.
type NodeTemplate = fleet.NodeTemplate

// PodRule says how pods on simulated nodes behave, by the annotations of docs/simulation.md.
type PodRule = simulated.Rule

// AddNodes starts n more simulated nodes. They register by and by.
func (c *Cluster) AddNodes(n int) error {
	if n == 0 {
		return nil
	}
	return c.scale(func(size int) int { return size + n })
}

// ScaleNodes makes it n simulated nodes. Of those that are too many the last ones are gone when it returns, with their
// Node objects; their pods go as those of any node that is deleted.
func (c *Cluster) ScaleNodes(n int) error { return c.scale(func(int) int { return n }) }

func (c *Cluster) scale(to func(size int) int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fleet == nil {
		f, err := fleet.New(fleet.Options{
			Config: c.as, CA: c.ca, Template: c.options.NodeTemplate, Rules: c.options.PodRules, WithoutPods: stages.OwnPods(c.options.Stages), Clock: c.options.Clock, Logger: c.log,
		})
		if err != nil {
			return err
		}
		c.group.Go(func() error { return f.Run(c.ctx) })
		c.fleet = f
		c.reach.Store(f)
	}
	return c.fleet.Scale(c.ctx, to(c.fleet.Size()))
}

// as reaches the server as the named user, without any socket.
func (c *Cluster) as(user string, groups ...string) *rest.Config {
	return c.inProcess(apiserver.Identity{Name: user, Groups: groups})
}

// dialKubelet reaches the kubelets of simulated nodes, which have no sockets, and others.
func (c *Cluster) dialKubelet(ctx context.Context, network, address string) (net.Conn, error) {
	if f := c.reach.Load(); f != nil {
		if connection, ours, err := f.Dial(ctx, network, address); ours {
			return connection, err
		}
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}
