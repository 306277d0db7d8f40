package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodePorts refuses nodes on which a host port that the pod needs is taken.
type nodePorts struct{}

func (nodePorts) Name() string { return "NodePorts" }

func (nodePorts) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded},
		{Changes: framework.PodGone, Helps: func(pod *corev1.Pod, event framework.Event) bool {
			return conflicts(framework.NewPodInfo(pod).Ports, framework.NewPodInfo(event.PodBefore).Ports)
		}},
	}
}

func (nodePorts) PreFilter(_ *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	if len(pod.Ports) == 0 {
		return nil, framework.NewStatus(framework.Skip)
	}
	return nil, nil
}

func (nodePorts) Filter(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	if conflicts(pod.Ports, node.Ports) {
		return portTaken
	}
	return nil
}

func conflicts(wanted, used []framework.HostPort) bool {
	for _, port := range wanted {
		if slices.ContainsFunc(used, port.Conflicts) {
			return true
		}
	}
	return false
}

var portTaken = framework.NewStatus(framework.Unschedulable, "node(s) didn't have free ports for the requested pod ports").By("NodePorts")
