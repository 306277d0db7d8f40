package plugins

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodePorts refuses nodes on which a host port that the pod needs is taken.
type nodePorts struct{}

func (nodePorts) Name() string { return "NodePorts" }

func (nodePorts) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.NodeAdded},
		{Changes: framework.PodGone, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			return event.PodBefore == nil || len(framework.NewPodInfo(event.PodBefore).Ports) > 0
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
	for _, wanted := range pod.Ports {
		for _, used := range node.Ports {
			if wanted.Conflicts(used) {
				return portTaken
			}
		}
	}
	return nil
}

var portTaken = framework.NewStatus(framework.Unschedulable, "node(s) didn't have free ports for the requested pod ports")
