package preemption

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// cluster is a snapshot for tests.
type cluster []*framework.NodeInfo

func (c cluster) Nodes() []*framework.NodeInfo    { return c }
func (c cluster) Node(string) *framework.NodeInfo { return nil }
func (c cluster) Wishing() []*framework.NodeInfo  { return nil }
func (c cluster) Avoiding() []*framework.NodeInfo { return nil }
func (c cluster) WithImage(string) int            { return 0 }

// pod is a running pod: its name, its priority, the CPUs that it asks for, the minute in
// which it started, and the value of its label.
type pod struct {
	name     string
	priority int32
	cpus     int64
	started  int
	app      string
}

func (p pod) info() *framework.PodInfo {
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name, UID: types.UID(p.name)}}
	if p.app != "" {
		made.Labels = map[string]string{"app": p.app}
	}
	made.Spec.Priority = &p.priority
	made.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(p.cpus, resource.DecimalSI)},
	}}}
	start := metav1.NewTime(time.Date(2026, 1, 1, 0, p.started, 0, 0, time.UTC))
	made.Status.StartTime = &start
	return framework.NewPodInfo(made)
}

func nodeWith(name string, cpus int64, pods ...pod) *framework.NodeInfo {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI)}
	info := framework.NewNodeInfo(node)
	for _, p := range pods {
		info = info.WithPod(p.info())
	}
	return info
}

func budget(app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// attempt is the try of a pod in whose way there is nothing but CPU.
func attempt(incoming pod, nodes cluster) *framework.Attempt {
	info := incoming.info()
	failed := framework.NewFailed(len(nodes))
	for _, node := range nodes {
		failed.Refuse(node.Node.Name, framework.NewStatus(framework.Unschedulable, "Insufficient cpu"))
	}
	return &framework.Attempt{
		State: framework.NewCycleState(), Pod: info, Nodes: nodes, Failed: failed,
		Filter: func(_ *framework.CycleState, node *framework.NodeInfo) *framework.Status {
			if node.Requested.MilliCPU+info.Requests.MilliCPU > node.Allocatable.MilliCPU {
				return framework.NewStatus(framework.Unschedulable, "Insufficient cpu")
			}
			return nil
		},
		Adjust: func(*framework.CycleState, *framework.PodInfo, *framework.NodeInfo, int) {},
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nodes   cluster
		cpus    int64
		budgets []*policyv1.PodDisruptionBudget
		want    string
	}{
		"the least urgent goes": {cluster{nodeWith("a", 2, pod{"high", 50, 1, 0, ""}, pod{"low", 5, 1, 0, ""})}, 1, nil, "a: low"},
		"no more than needed": {cluster{nodeWith("a", 4, pod{"x", 5, 1, 0, ""}, pod{"y", 4, 1, 0, ""}, pod{"z", 3, 2, 0, ""})},
			2, nil, "a: z"},
		"the youngest goes": {cluster{nodeWith("a", 2, pod{"old", 5, 1, 1, ""}, pod{"young", 5, 1, 9, ""})}, 1, nil, "a: young"},
		"the node of the less urgent": {cluster{nodeWith("a", 1, pod{"high", 50, 1, 0, ""}), nodeWith("b", 1, pod{"low", 5, 1, 0, ""})},
			1, nil, "b: low"},
		"the smaller sum": {cluster{nodeWith("a", 2, pod{"a1", 5, 1, 0, ""}, pod{"a2", 5, 1, 0, ""}),
			nodeWith("b", 2, pod{"b1", 5, 1, 0, ""}, pod{"b2", 1, 1, 0, ""})}, 2, nil, "b: b1 b2"},
		"fewer victims": {cluster{nodeWith("a", 2, pod{"a1", 5, 1, 0, ""}, pod{"a2", -2147483648, 1, 0, ""}),
			nodeWith("b", 2, pod{"b1", 5, 2, 0, ""})}, 2, nil, "b: b1"},
		"the later start": {cluster{nodeWith("a", 1, pod{"old", 5, 1, 1, ""}), nodeWith("b", 1, pod{"young", 5, 1, 9, ""})}, 1, nil, "b: young"},
		"equals": {cluster{nodeWith("a", 1, pod{"x", 5, 1, 1, ""}), nodeWith("b", 1, pod{"y", 5, 1, 1, ""}), nodeWith("c", 1, pod{"z", 6, 1, 1, ""})}, 1, nil,
			"a: x, b: y"},
		"a budget spares": {cluster{nodeWith("a", 2, pod{"kept", 1, 1, 9, "db"}, pod{"goes", 5, 1, 0, "web"})}, 1,
			[]*policyv1.PodDisruptionBudget{budget("db", 0)}, "a: goes"},
		"a budget allows": {cluster{nodeWith("a", 2, pod{"goes", 1, 1, 9, "db"}, pod{"kept", 5, 1, 0, "web"})}, 1,
			[]*policyv1.PodDisruptionBudget{budget("db", 1)}, "a: goes"},
		"violated as a last resort": {cluster{nodeWith("a", 1, pod{"db", 1, 1, 0, "db"})}, 1,
			[]*policyv1.PodDisruptionBudget{budget("db", 0)}, "a: db (1 violated)"},
		"budgets before priorities": {cluster{nodeWith("a", 1, pod{"low", 1, 1, 0, "db"}), nodeWith("b", 1, pod{"high", 50, 1, 0, "web"})}, 1,
			[]*policyv1.PodDisruptionBudget{budget("db", 0)}, "b: high"},
		// The first node's unprotected pod would have to go with the protected one.
		"all victims count": {cluster{nodeWith("a", 2, pod{"high", 90, 1, 0, ""}, pod{"low", 0, 1, 0, "db"}), nodeWith("b", 2, pod{"mid", 80, 2, 0, "db"})}, 2,
			[]*policyv1.PodDisruptionBudget{budget("db", 0)}, "b: mid (1 violated)"},
		"nobody is less urgent": {cluster{nodeWith("a", 1, pod{"same", 100, 1, 0, ""})}, 1, nil,
			"0/1 nodes are available: 1 No preemption victims found for incoming pod."},
		"it wouldn't fit anyway": {cluster{nodeWith("a", 2, pod{"same", 100, 1, 0, ""}, pod{"low", 1, 1, 0, ""})}, 2, nil,
			"0/1 nodes are available: 1 Insufficient cpu."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, why := Find(attempt(pod{"new", 100, c.cpus, 0, ""}, c.nodes), c.budgets, 10, 100)
			if got := told(found, why); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// told lists the equally good candidates.
func told(found []Candidate, why *framework.Failed) string {
	if len(found) == 0 {
		return why.Error()
	}
	texts := make([]string, 0, len(found))
	for _, candidate := range found {
		names := make([]string, 0, len(candidate.Victims))
		for _, victim := range candidate.Victims {
			names = append(names, victim.Name)
		}
		text := candidate.Node + ": " + strings.Join(names, " ")
		if candidate.Violations > 0 {
			text += " (1 violated)"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func TestNodesWhereNothingHelps(t *testing.T) {
	t.Parallel()
	nodes := cluster{nodeWith("a", 1, pod{"low", 1, 1, 0, ""}), nodeWith("b", 1)}
	try := attempt(pod{"new", 100, 1, 0, ""}, nodes)
	try.Failed.Refuse("a", framework.NewStatus(framework.Unresolvable, "node(s) were unschedulable"))
	found, why := Find(try, nil, 10, 100)
	want := "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
	if got := told(found, why); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
