package plugins

import "github.com/kogge-dev/kogge/scheduler/framework"

// dynamicResources stands where upstream's plugin for devices does and has its place in what
// is said: a pod that an earlier plugin refused before any node was tried is "not found"
// here, and no room is made for it. Claims of devices are not allocated.
type dynamicResources struct{}

const devicesKey = "DynamicResources"

func (dynamicResources) Name() string { return "DynamicResources" }

func (dynamicResources) PreFilter(state *framework.CycleState, _ *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	state.Write(devicesKey, struct{}{})
	return nil, framework.NewStatus(framework.Skip)
}

func (dynamicResources) PostFilter(attempt *framework.Attempt) (*framework.Preemption, *framework.Status) {
	if _, ok := framework.Read[struct{}](attempt.State, devicesKey); !ok {
		return nil, framework.NewStatus(framework.Error, "not found")
	}
	return nil, nil
}

// Interests are none: it refuses nobody.
func (dynamicResources) Interests() []framework.Interest { return nil }
