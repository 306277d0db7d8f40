package plugins

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/configuration"
	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodeResourcesFit refuses nodes that haven't enough left of what the pod asks for, and
// rates those best that have the most left (least allocated).
type nodeResourcesFit struct {
	// ignored are resources, and groups of them (what stands before the slash), that
	// somebody else sees to.
	ignored, ignoredGroups []string
	// strategy is how nodes are rated; nil for the default.
	strategy *strategy
}

func newNodeResourcesFit(args *configv1.NodeResourcesFitArgs) nodeResourcesFit {
	fit := nodeResourcesFit{ignored: args.IgnoredResources, ignoredGroups: args.IgnoredResourceGroups}
	if !apiequality.Semantic.DeepEqual(args, configuration.NewArguments(fit.Name())) {
		fit.strategy = newStrategy(args.ScoringStrategy)
	}
	return fit
}

// ignores says that a resource isn't looked at.
func (f nodeResourcesFit) ignores(name corev1.ResourceName) bool {
	group, _, grouped := strings.Cut(string(name), "/")
	return slices.Contains(f.ignored, string(name)) || grouped && slices.Contains(f.ignoredGroups, group)
}

func (nodeResourcesFit) Name() string { return "NodeResourcesFit" }

func (f nodeResourcesFit) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.PodGone | framework.SelfShrunk},
		{Changes: framework.PodShrunk, Helps: func(pod *corev1.Pod, event framework.Event) bool {
			is, was := framework.NewPodInfo(event.PodAfter).Requests, framework.NewPodInfo(event.PodBefore).Requests
			return is.LessOf(&framework.NewPodInfo(pod).Requests, &was)
		}},
		{Changes: framework.NodeAdded | framework.NodeAllocatable, Helps: f.nodeHelps},
	}
}

// nodeHelps says that the pod would fit on the node were it empty, and that the node is new
// or has more than before of what the pod asks for.
func (f nodeResourcesFit) nodeHelps(pod *corev1.Pod, event framework.Event) bool {
	info, after := framework.NewPodInfo(pod), framework.NewNodeInfo(event.NodeAfter)
	if f.Filter(nil, info, after) != nil {
		return false
	}
	if event.NodeBefore == nil {
		return true
	}
	before := framework.NewNodeInfo(event.NodeBefore)
	return after.AllowedPods > before.AllowedPods || before.Allocatable.LessOf(&info.Requests, &after.Allocatable)
}

// lacking says which of these a node has too little of.
type lacking uint8

const (
	lacksPods lacking = 1 << iota
	lacksCPU
	lacksMemory
	lacksStorage
	// lacksForever: not even an empty node would do.
	lacksForever
	lackingKinds
)

// lackingStatuses has the status of each combination: they are said of very many nodes.
var lackingStatuses = func() (all [lackingKinds]*framework.Status) {
	for l := range lackingKinds {
		all[l] = l.status(nil)
	}
	return all
}()

// status says what is lacking, extended resources last.
func (l lacking) status(extended []string) *framework.Status {
	var reasons []string
	for i, reason := range []string{"Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"} {
		if l&(1<<i) != 0 {
			reasons = append(reasons, reason)
		}
	}
	code := framework.Unschedulable
	if l&lacksForever != 0 {
		code = framework.Unresolvable
	}
	return framework.NewStatus(code, append(reasons, extended...)...).By("NodeResourcesFit")
}

func (f nodeResourcesFit) Filter(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	asked := &pod.Requests
	if fits(asked, node) {
		return nil
	}
	var what lacking
	lacks := func(kind lacking, asked, used, has int64) bool {
		if asked == 0 || asked <= has-used {
			return false
		}
		if what |= kind; asked > has {
			what |= lacksForever
		}
		return true
	}
	if len(node.Pods)+1 > node.AllowedPods {
		what |= lacksPods
	}
	lacks(lacksCPU, asked.MilliCPU, node.Requested.MilliCPU, node.Allocatable.MilliCPU)
	lacks(lacksMemory, asked.Memory, node.Requested.Memory, node.Allocatable.Memory)
	lacks(lacksStorage, asked.EphemeralStorage, node.Requested.EphemeralStorage, node.Allocatable.EphemeralStorage)
	if len(asked.Scalar) > 0 {
		var extended []string
		for _, name := range slices.Sorted(maps.Keys(asked.Scalar)) {
			if !f.ignores(name) && lacks(0, asked.Scalar[name], node.Requested.Scalar[name], node.Allocatable.Scalar[name]) {
				extended = append(extended, "Insufficient "+string(name))
			}
		}
		if len(extended) > 0 {
			return what.status(extended)
		}
	}
	if what == 0 {
		return nil // all that it lacks is ignored
	}
	return lackingStatuses[what]
}

// fits is the fast answer for the many nodes that do.
func fits(asked *framework.Resources, node *framework.NodeInfo) bool {
	if len(node.Pods)+1 > node.AllowedPods ||
		asked.MilliCPU > 0 && asked.MilliCPU > node.Allocatable.MilliCPU-node.Requested.MilliCPU ||
		asked.Memory > 0 && asked.Memory > node.Allocatable.Memory-node.Requested.Memory ||
		asked.EphemeralStorage > 0 && asked.EphemeralStorage > node.Allocatable.EphemeralStorage-node.Requested.EphemeralStorage {
		return false
	}
	for name, amount := range asked.Scalar {
		if amount > 0 && amount > node.Allocatable.Scalar[name]-node.Requested.Scalar[name] {
			return false
		}
	}
	return true
}

// Score is the mean of what would be left of CPU and memory, in percent:
//
//	10 CPU, 4 used, 1 asked for: (10-5)·100/10 = 50
func (f nodeResourcesFit) Score(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	if f.strategy != nil {
		return f.strategy.score(pod, node)
	}
	var sum, count int64
	add := func(requested, has int64) {
		if has == 0 {
			return
		}
		count++
		if requested <= has {
			sum += (has - requested) * framework.MaxScore / has
		}
	}
	add(node.Assumed.MilliCPU+pod.Assumed.MilliCPU, node.Allocatable.MilliCPU)
	add(node.Assumed.Memory+pod.Assumed.Memory, node.Allocatable.Memory)
	if count == 0 {
		return 0
	}
	return sum / count
}
