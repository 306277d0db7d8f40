package cache

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

func node(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
}

func pod(name, on, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}}},
	}
}

// check compares what a node is counted to have.
func check(t *testing.T, c *Cache, s *Snapshot, node string, pods int, milliCPU int64) {
	t.Helper()
	c.Update(s)
	info := s.Node(node)
	if info == nil {
		t.Fatalf("node %s isn't known", node)
	}
	if len(info.Pods) != pods || info.Requested.MilliCPU != milliCPU {
		t.Errorf("node %s has %d pods with %d m, want %d with %d m", node, len(info.Pods), info.Requested.MilliCPU, pods, milliCPU)
	}
}

func TestAPodIsCountedOnce(t *testing.T) {
	t.Parallel()
	c, s := New(), &Snapshot{}
	c.SetNode(node("n", ""))
	c.SetNode(node("m", ""))
	p := pod("p", "", "100m")
	if err := c.Assume(framework.NewPodInfo(p), "n"); err != nil {
		t.Fatal(err)
	}
	check(t, c, s, "n", 1, 100)
	if err := c.Assume(framework.NewPodInfo(p), "m"); err == nil {
		t.Error("a pod was assumed twice")
	}
	c.SetPod(pod("p", "n", "100m"))
	check(t, c, s, "n", 1, 100)
	c.Forget(p)
	check(t, c, s, "n", 1, 100) // confirmed: no longer an assumption
	c.SetPod(pod("p", "m", "200m"))
	check(t, c, s, "n", 0, 0)
	check(t, c, s, "m", 1, 200)
	c.RemovePod(p)
	check(t, c, s, "m", 0, 0)
}

func TestForgetTakesBack(t *testing.T) {
	t.Parallel()
	c, s := New(), &Snapshot{}
	c.SetNode(node("n", ""))
	p := pod("p", "", "1")
	if err := c.Assume(framework.NewPodInfo(p), "n"); err != nil {
		t.Fatal(err)
	}
	c.Forget(p)
	check(t, c, s, "n", 0, 0)
	if c.Assumed(p) {
		t.Error("still assumed")
	}
}

func TestPodsMayComeBeforeTheirNode(t *testing.T) {
	t.Parallel()
	c, s := New(), &Snapshot{}
	c.SetPod(pod("p", "n", "1"))
	c.Update(s)
	if len(s.Nodes()) != 0 {
		t.Fatal("a node that isn't known is listed")
	}
	c.SetNode(node("n", ""))
	check(t, c, s, "n", 1, 1000)
	c.RemoveNode("n")
	c.Update(s)
	if len(s.Nodes()) != 0 {
		t.Error("a removed node is listed")
	}
	c.SetNode(node("n", ""))
	check(t, c, s, "n", 1, 1000)
}

func TestASnapshotDoesNotChange(t *testing.T) {
	t.Parallel()
	c, s := New(), &Snapshot{}
	c.SetNode(node("n", ""))
	c.Update(s)
	before := s.Node("n")
	c.SetPod(pod("p", "n", "1"))
	if len(before.Pods) != 0 || s.Node("n") != before {
		t.Error("what was read has changed")
	}
}

func TestZonesTakeTurns(t *testing.T) {
	t.Parallel()
	c, s := New(), &Snapshot{}
	for _, n := range []*corev1.Node{node("a1", "a"), node("a2", "a"), node("a3", "a"), node("b1", "b")} {
		c.SetNode(n)
	}
	c.Update(s)
	var order string
	for _, info := range s.Nodes() {
		order += info.Node.Name + " "
	}
	if order != "a1 b1 a2 a3 " {
		t.Errorf("order is %s", order)
	}
}
