package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodeDeclaredFeatures refuses nodes that lack a feature of the kubelet's that the pod needs (KEP-5328): a node declares in its status
// what it has, and what a pod needs shows in its spec.
type nodeDeclaredFeatures struct{}

func (nodeDeclaredFeatures) Name() string { return "NodeDeclaredFeatures" }

// ownVersion is that of the components that this one stands for: features that all of its kubelets have need no declaration.
var ownVersion = version.MustParseSemantic("1.37.2")

func (nodeDeclaredFeatures) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded | framework.NodeFeatures, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			return event.NodeBefore == nil || !slices.Equal(event.NodeBefore.Status.DeclaredFeatures, event.NodeAfter.Status.DeclaredFeatures)
		}},
	}
}

const neededFeatures = "NodeDeclaredFeatures"

func (nodeDeclaredFeatures) PreFilter(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	needed, err := nodedeclaredfeatures.DefaultFramework.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &pod.Pod.Spec}, ownVersion)
	if err != nil {
		return nil, framework.AsStatus(err)
	}
	if needed.IsEmpty() {
		return nil, framework.NewStatus(framework.Skip)
	}
	state.Write(neededFeatures, needed)
	return nil, nil
}

func (nodeDeclaredFeatures) Filter(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	needed, _ := framework.Read[nodedeclaredfeatures.FeatureSet](state, neededFeatures)
	ok, err := needed.IsSubset(nodedeclaredfeatures.DefaultFramework.TryMap(node.Node.Status.DeclaredFeatures))
	if err != nil {
		return framework.AsStatus(err)
	}
	if !ok {
		return lacksFeatures
	}
	return nil
}

var lacksFeatures = framework.NewStatus(framework.Unresolvable, "node(s) didn't match Pod's required features").By("NodeDeclaredFeatures")
