package fleet

import (
	"context"
	"fmt"

	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// start starts the node's kubelet on a runtime of its own. It is the kubelet of real nodes. The caller holds the lock.
func (f *Fleet) start(n *node) error {
	runtime, err := simulated.New(simulated.Options{Rules: f.options.Rules, Clock: f.options.Clock, Addresses: n.spec.podRange})
	if err != nil {
		return err
	}
	n.kubelet, err = kubelet.New(kubelet.Options{
		NodeName: n.spec.name, Config: f.options.Config("system:node:"+n.spec.name, "system:nodes"),
		Runtime: runtime, Images: runtime.Images(), NodeIP: n.spec.address, Port: port, PodRange: n.spec.podRange,
		Capacity: n.spec.capacity, Labels: n.spec.labels, Taints: n.spec.taints, ClusterDomain: "cluster.local",
		Pods: f.source(), Events: f.events, Rounds: f.rounds, Heartbeats: f.heartbeats, StatusInterval: statusInterval,
		Clock: f.options.Clock, Logger: f.options.Logger,
	})
	if err != nil {
		return fmt.Errorf("node %s: %w", n.spec.name, err)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	n.cancel = cancel
	f.running.Go(func() {
		defer close(n.ended)
		defer cancel()
		if err := n.kubelet.Run(ctx); err != nil {
			f.options.Logger.Error("a simulated node ended", "node", n.spec.name, "err", err)
		}
	})
	return nil
}

// source is where the kubelets' pods come from.
func (f *Fleet) source() kubelet.PodSource {
	if f.options.WithoutPods {
		return nobody{}
	}
	return f.pods
}

// nobody is a source of no pods.
type nobody struct{}

// Subscribe implements kubelet.PodSource.
func (nobody) Subscribe(_ string, handler kubelet.PodHandler) (unsubscribe func()) {
	handler.Synced()
	return func() {}
}
