package plugins

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// balancedAllocation rates those nodes best on which the pod would bring the used parts of
// resources closer together, so that none is left over when the others are full.
type balancedAllocation struct{ resources []corev1.ResourceName }

func newBalancedAllocation(args *configv1.NodeResourcesBalancedAllocationArgs) balancedAllocation {
	b := balancedAllocation{}
	for _, resource := range args.Resources {
		b.resources = append(b.resources, corev1.ResourceName(resource.Name))
	}
	return b
}

func (balancedAllocation) Name() string { return "NodeResourcesBalancedAllocation" }

func (b balancedAllocation) PreScore(_ *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	for _, name := range b.resources {
		if pod.Requests.Of(name) != 0 {
			return nil
		}
	}
	return framework.NewStatus(framework.Skip) // it changes no balance
}

// Score compares the balance after with that before: 75 is no change, 100 the greatest
// gain, 50 the greatest loss.
func (b balancedAllocation) Score(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	before := b.balance(node, nil)
	after := b.balance(node, &pod.Requests)
	return framework.MaxScore/2 + (framework.MaxScore/2+after-before)/2
}

// balance is 100 less the standard deviation, in percent, of the used parts. Extended
// resources count if the pod asks for them, which it does in neither or both of the sums
// that are compared.
func (b balancedAllocation) balance(node *framework.NodeInfo, more *framework.Resources) int64 {
	var few [4]float64
	parts := few[:0]
	for _, name := range b.resources {
		has := node.Allocatable.Of(name)
		if has == 0 {
			continue
		}
		used := node.Requested.Of(name)
		if more != nil {
			used += more.Of(name)
		}
		parts = append(parts, math.Min(1, float64(used)/float64(has)))
	}
	return int64((1 - deviation(parts)) * float64(framework.MaxScore))
}

// deviation is the standard deviation; of two parts that is half their difference.
func deviation(parts []float64) float64 {
	if len(parts) < 2 {
		return 0
	}
	if len(parts) == 2 {
		return math.Abs(parts[0]-parts[1]) / 2
	}
	var sum, squares float64
	for _, part := range parts {
		sum += part
	}
	mean := sum / float64(len(parts))
	for _, part := range parts {
		squares += (part - mean) * (part - mean)
	}
	return math.Sqrt(squares / float64(len(parts)))
}
