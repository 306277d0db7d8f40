package plugins

import (
	"time"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// Default is the default profile. The order is that in which a node is judged: cheap
// rules that refuse often come first.
func Default(sources *Sources) []framework.Weighted {
	counts := newPodCounts()
	return []framework.Weighted{
		{Plugin: schedulingGates{}},
		{Plugin: nodeName{}},
		{Plugin: nodeUnschedulable{}},
		{Plugin: taintToleration{}, Weight: 3},
		{Plugin: nodeAffinity{}, Weight: 2},
		{Plugin: nodePorts{}},
		{Plugin: nodeResourcesFit{}, Weight: 1},
		{Plugin: volumeRestrictions{sources: sources}},
		{Plugin: nodeVolumeLimits{sources: sources}},
		{Plugin: volumeBinding{sources: sources, within: 10 * time.Minute, shape: emptier}, Weight: 1},
		{Plugin: volumeZone{sources: sources}},
		{Plugin: podTopologySpread{sources: sources, counts: counts}, Weight: 2},
		{Plugin: interPodAffinity{sources: sources, counts: counts}, Weight: 2},
		{Plugin: dynamicResources{}},
		{Plugin: defaultPreemption{sources: sources}},
		{Plugin: balancedAllocation{}, Weight: 1},
		{Plugin: imageLocality{}, Weight: 1},
		{Plugin: defaultBinder{client: sources.client}},
	}
}
