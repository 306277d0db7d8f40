package admission

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"disk": "ssd"}},
		Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "quiet", Effect: v1.TaintEffectNoSchedule}}},
		Status:     v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("2"), v1.ResourcePods: resource.MustParse("3")}},
	}
	drained := node.DeepCopy()
	drained.Spec.Taints = []v1.Taint{{Key: "drain", Effect: v1.TaintEffectNoExecute}}
	pod := func(cpu string, port int32, ip string) *v1.Pod {
		c := v1.Container{}
		if cpu != "" {
			c.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}
		}
		if port > 0 {
			c.Ports = []v1.ContainerPort{{HostPort: port, HostIP: ip}}
		}
		return &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{c}}}
	}
	selecting := pod("", 0, "")
	selecting.Spec.NodeSelector = map[string]string{"disk": "hdd"}
	extended := pod("", 0, "")
	extended.Spec.Containers[0].Resources.Requests = v1.ResourceList{"example.com/thing": resource.MustParse("1")}
	windows := pod("", 0, "")
	windows.Spec.OS = &v1.PodOS{Name: v1.Windows}
	for _, test := range []struct {
		name   string
		pod    *v1.Pod
		others []*v1.Pod
		node   *v1.Node
		want   string
	}{
		{"fits", pod("1", 80, ""), []*v1.Pod{pod("1", 81, "")}, node, ""},
		{"cpu", pod("1500m", 0, ""), []*v1.Pod{pod("1", 0, "")}, node, "OutOfcpu: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"},
		{"pods", pod("", 0, ""), []*v1.Pod{{}, {}, {}}, node, "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"},
		{"port", pod("", 80, ""), []*v1.Pod{pod("", 80, "192.0.2.1")}, node, "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"},
		{"port of another address", pod("", 80, "192.0.2.2"), []*v1.Pod{pod("", 80, "192.0.2.1")}, node, ""},
		{"selector", selecting, nil, node, "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"},
		{"taint", pod("", 0, ""), nil, drained, "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"},
		{"a resource that the node doesn't know", extended, nil, node, ""},
		{"system", windows, nil, node, "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS"},
	} {
		got := ""
		if rejection := Check(test.pod, test.others, test.node); rejection != nil {
			got = rejection.Reason + ": " + rejection.Message
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
