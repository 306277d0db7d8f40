package plugins

import "github.com/kogge-dev/kogge/scheduler/framework"

// nodeName lets a pod that names its node run on no other.
type nodeName struct{}

func (nodeName) Name() string { return "NodeName" }

func (nodeName) Interests() []framework.Interest {
	return []framework.Interest{{Changes: framework.NodeAdded}}
}

func (nodeName) Filter(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	if want := pod.Pod.Spec.NodeName; want == "" || want == node.Node.Name {
		return nil
	}
	return nodeNameMismatch
}

var nodeNameMismatch = framework.NewStatus(framework.Unresolvable, "node(s) didn't match the requested node name").By("NodeName")
