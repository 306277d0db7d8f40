package plugins

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// TestWhatHelpsOnNodes: upstream's rules for the plugins that look at one node.
func TestWhatHelpsOnNodes(t *testing.T) {
	t.Parallel()
	node := func(changes ...nodeChange) *corev1.Node { return newNode("n", changes...).Node }
	labelled := func(value string) nodeChange { return func(n *corev1.Node) { n.Labels["disk"] = value } }
	with := func(cpu, pods string) nodeChange {
		return func(n *corev1.Node) {
			n.Status.Allocatable[corev1.ResourceCPU], n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse(cpu), resource.MustParse(pods)
		}
	}
	hard := tainted("k", corev1.TaintEffectNoSchedule)
	from := func(change framework.Change, before, after *corev1.Node) framework.Event {
		return framework.Event{Change: change, NodeBefore: before, NodeAfter: after}
	}
	gone := func(changes ...podChange) framework.Event {
		return framework.Event{Change: framework.PodGone, PodBefore: newPod(changes...).Pod}
	}
	shrank := func(before, after podChange) framework.Event {
		return framework.Event{Change: framework.PodShrunk, PodBefore: newPod(before).Pod, PodAfter: newPod(after).Pod}
	}
	self := func(change framework.Change, changes ...podChange) framework.Event {
		return framework.Event{Change: change, PodAfter: newPod(changes...).Pod}
	}
	fast := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "fast"} }
	port := hostPort("", 80, corev1.ProtocolTCP)
	for name, c := range map[string]struct {
		plugin string
		pod    *framework.PodInfo
		event  framework.Event
		want   bool
	}{
		"a pod went":                  {"NodeResourcesFit", newPod(asks("1", "")), gone(), true},
		"more of what it asks for":    {"NodeResourcesFit", newPod(asks("1", "")), from(framework.NodeAllocatable, node(with("4", "3")), node(with("5", "3"))), true},
		"more of another":             {"NodeResourcesFit", newPod(asks("", "1Gi")), from(framework.NodeAllocatable, node(with("4", "3")), node(with("5", "3"))), false},
		"less":                        {"NodeResourcesFit", newPod(asks("1", "")), from(framework.NodeAllocatable, node(with("4", "3")), node(with("3", "3"))), false},
		"more and not enough":         {"NodeResourcesFit", newPod(asks("9", "")), from(framework.NodeAllocatable, node(with("4", "3")), node(with("5", "3"))), false},
		"room for more pods":          {"NodeResourcesFit", newPod(), from(framework.NodeAllocatable, node(with("4", "3")), node(with("4", "4"))), true},
		"a new node":                  {"NodeResourcesFit", newPod(asks("1", "")), from(framework.NodeAdded, nil, node()), true},
		"one gave back CPU":           {"NodeResourcesFit", newPod(asks("1", "")), shrank(asks("2", ""), asks("1", "")), true},
		"one gave back memory":        {"NodeResourcesFit", newPod(asks("1", "")), shrank(asks("", "2Gi"), asks("", "1Gi")), false},
		"it asks for less":            {"NodeResourcesFit", newPod(asks("1", "")), self(framework.SelfShrunk), true},
		"its labels":                  {"NodeResourcesFit", newPod(asks("1", "")), self(framework.SelfLabels), false},
		"the label came":              {"NodeAffinity", newPod(fast), from(framework.NodeLabels, node(), node(labelled("fast"))), true},
		"it was there":                {"NodeAffinity", newPod(fast), from(framework.NodeLabels, node(labelled("fast")), node(labelled("fast"))), false},
		"another label":               {"NodeAffinity", newPod(fast), from(framework.NodeLabels, node(), node(labelled("slow"))), false},
		"a node with the label":       {"NodeAffinity", newPod(fast), from(framework.NodeAdded, nil, node(labelled("fast"))), true},
		"tolerations and affinity":    {"NodeAffinity", newPod(fast), self(framework.SelfTolerations), false},
		"a feature came":              {"NodeDeclaredFeatures", newPod(restartsAll), from(framework.NodeFeatures, node(), node(declares("A"))), true},
		"no feature came":             {"NodeDeclaredFeatures", newPod(restartsAll), from(framework.NodeLabels|framework.NodeFeatures, node(declares("A")), node(declares("A"))), false},
		"the taint went":              {"TaintToleration", newPod(), from(framework.NodeTaints, node(hard), node()), true},
		"no taint was there":          {"TaintToleration", newPod(), from(framework.NodeTaints, node(), node()), false},
		"a taint came":                {"TaintToleration", newPod(), from(framework.NodeTaints, node(), node(hard)), false},
		"a node without taints":       {"TaintToleration", newPod(), from(framework.NodeAdded, nil, node()), true},
		"more tolerations":            {"TaintToleration", newPod(), self(framework.SelfTolerations), true},
		"uncordoned":                  {"NodeUnschedulable", newPod(), from(framework.NodeTaints, node(unschedulable), node()), true},
		"open before":                 {"NodeUnschedulable", newPod(), from(framework.NodeTaints, node(hard), node()), false},
		"a toleration of cordons":     {"NodeUnschedulable", newPod(), self(framework.SelfTolerations, toleratesAll), true},
		"a toleration of another":     {"NodeUnschedulable", newPod(), self(framework.SelfTolerations), false},
		"its port is free":            {"NodePorts", newPod(port), gone(port), true},
		"another port is free":        {"NodePorts", newPod(port), gone(hostPort("", 81, corev1.ProtocolTCP)), false},
		"its port on another address": {"NodePorts", newPod(hostPort("10.0.0.1", 80, corev1.ProtocolTCP)), gone(hostPort("10.0.0.2", 80, corev1.ProtocolTCP)), false},
		"a node of that name":         {"NodeName", newPod(), from(framework.NodeAdded, nil, node()), true},
		"a node's labels":             {"NodeName", newPod(), from(framework.NodeLabels, node(), node()), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := framework.NewProfile(Default(noSources())...)
			if got := profile.Helps(c.pod.Pod, map[string]bool{c.plugin: true}, c.event); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
