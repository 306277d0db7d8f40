package kubelet

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kogge-dev/kogge/kubelet/node"
)

// Version that the kubelet reports.
const Version = "v1.37.2+kogge"

func (k *Kubelet) newNode(leases coordinationv1.CoordinationV1Interface) (*node.Agent, error) {
	o := k.options
	machine := node.Simulated(o.NodeName, o.Capacity)
	if o.Capacity == nil {
		root := o.RootDir
		if root == "" {
			root = "/"
		}
		var err error
		if machine, err = node.Measure(root); err != nil {
			return nil, fmt.Errorf("kubelet: %w", err)
		}
	} else if o.RootDir != "" {
		measured, err := node.Measure("/")
		if err != nil {
			return nil, fmt.Errorf("kubelet: %w", err)
		}
		machine.Info = measured.Info
	}
	return node.New(node.Options{
		Nodes: k.core.Nodes(), Leases: leases.Leases(v1.NamespaceNodeLease), Events: k.recorder,
		Name: o.NodeName, Hostname: o.Hostname, Address: o.NodeIP, Port: o.Port, MaxPods: o.MaxPods,
		Labels: o.Labels, Taints: o.Taints, ProviderID: o.ProviderID, Version: Version, Machine: machine,
		Runtime: o.Runtime, Images: o.Images, Away: k.away.reason,
		StatusInterval: o.StatusInterval, StatusReport: o.StatusReport, LeaseInterval: o.LeaseInterval,
		PodRange: o.PodRange, Rounds: k.rounds, Heartbeats: k.heartbeats, Watched: o.RootDir != "", Clock: k.clock, Logger: k.logger,
	}), nil
}
