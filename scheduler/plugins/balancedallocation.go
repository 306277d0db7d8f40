package plugins

import (
	"math"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// balancedAllocation rates those nodes best on which the pod would bring the used parts of
// CPU and memory closer together, so that neither is left over when the other is full.
type balancedAllocation struct{}

func (balancedAllocation) Name() string { return "NodeResourcesBalancedAllocation" }

func (balancedAllocation) PreScore(_ *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	if pod.Requests.MilliCPU == 0 && pod.Requests.Memory == 0 {
		return framework.NewStatus(framework.Skip) // it changes no balance
	}
	return nil
}

// Score compares the balance after with that before: 75 is no change, 100 the greatest
// gain, 50 the greatest loss.
func (balancedAllocation) Score(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	before := balance(node, node.Requested.MilliCPU, node.Requested.Memory)
	after := balance(node, node.Requested.MilliCPU+pod.Requests.MilliCPU, node.Requested.Memory+pod.Requests.Memory)
	return framework.MaxScore/2 + (framework.MaxScore/2+after-before)/2
}

// balance is 100 less the standard deviation, in percent, of the used parts. Of two parts
// that is half their difference.
func balance(node *framework.NodeInfo, milliCPU, memory int64) int64 {
	if node.Allocatable.MilliCPU == 0 || node.Allocatable.Memory == 0 {
		return framework.MaxScore
	}
	part := func(used, has int64) float64 { return math.Min(1, float64(used)/float64(has)) }
	deviation := math.Abs(part(milliCPU, node.Allocatable.MilliCPU)-part(memory, node.Allocatable.Memory)) / 2
	return int64((1 - deviation) * float64(framework.MaxScore))
}
