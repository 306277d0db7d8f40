package plugins

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/configuration"
	"github.com/kogge-dev/kogge/scheduler/framework"
)

// withoutArguments are the plugins that take none.
var withoutArguments = map[string]func(*Sources) framework.Plugin{
	"SchedulingGates":      func(*Sources) framework.Plugin { return schedulingGates{} },
	"PrioritySort":         func(*Sources) framework.Plugin { return prioritySort{} },
	"NodeName":             func(*Sources) framework.Plugin { return nodeName{} },
	"NodeUnschedulable":    func(*Sources) framework.Plugin { return nodeUnschedulable{} },
	"TaintToleration":      func(*Sources) framework.Plugin { return taintToleration{} },
	"NodePorts":            func(*Sources) framework.Plugin { return nodePorts{} },
	"VolumeRestrictions":   func(s *Sources) framework.Plugin { return volumeRestrictions{sources: s} },
	"NodeVolumeLimits":     func(s *Sources) framework.Plugin { return nodeVolumeLimits{sources: s} },
	"VolumeZone":           func(s *Sources) framework.Plugin { return volumeZone{sources: s} },
	"DynamicResources":     func(*Sources) framework.Plugin { return dynamicResources{} },
	"ImageLocality":        func(*Sources) framework.Plugin { return imageLocality{} },
	"NodeDeclaredFeatures": func(*Sources) framework.Plugin { return nodeDeclaredFeatures{} },
	"DefaultBinder":        func(s *Sources) framework.Plugin { return defaultBinder{client: s.client} },
}

// New makes a plugin by its name, with arguments that have been validated; ok is false for a
// name that there is no plugin of.
func New(name string, args runtime.Object, sources *Sources) (plugin framework.Plugin, ok bool, err error) {
	if simple, known := withoutArguments[name]; known {
		return simple(sources), true, nil
	}
	plugin, err = newWithArguments(args, sources)
	if err != nil {
		return nil, true, fmt.Errorf("initializing plugin %q: %w", name, err)
	}
	return plugin, plugin != nil && plugin.Name() == name, nil
}

// newWithArguments makes the plugin whose arguments these are; nil for others.
func newWithArguments(args runtime.Object, sources *Sources) (framework.Plugin, error) {
	switch args := args.(type) {
	case *configv1.NodeAffinityArgs:
		return newNodeAffinity(args)
	case *configv1.NodeResourcesFitArgs:
		if err := configuration.ValidateFit(args); err != nil {
			return nil, err
		}
		return newNodeResourcesFit(args), nil
	case *configv1.NodeResourcesBalancedAllocationArgs:
		return newBalancedAllocation(args), nil
	case *configv1.VolumeBindingArgs:
		return newVolumeBinding(args, sources), nil
	case *configv1.PodTopologySpreadArgs:
		return newPodTopologySpread(args, sources), nil
	case *configv1.InterPodAffinityArgs:
		return interPodAffinity{
			sources: sources, counts: sources.counts, hardWeight: int64(*args.HardPodAffinityWeight), ownWishesOnly: args.IgnorePreferredTermsOfExistingPods,
		}, nil
	case *configv1.DefaultPreemptionArgs:
		return defaultPreemption{sources: sources, percentage: int(*args.MinCandidateNodesPercentage), absolute: int(*args.MinCandidateNodesAbsolute)}, nil
	}
	return nil, nil
}

// Default is the default profile.
func Default(sources *Sources) []framework.Weighted {
	var list []framework.Weighted
	for _, named := range configuration.DefaultPlugins() {
		plugin, ok, err := New(named.Name, configuration.NewArguments(named.Name), sources)
		if err != nil || !ok {
			panic(fmt.Sprintf("the default profile names plugin %s: %v", named.Name, err))
		}
		weight := int64(1)
		if named.Weight != nil {
			weight = int64(*named.Weight)
		}
		list = append(list, framework.Weighted{Plugin: plugin, Weight: weight})
	}
	return list
}
