package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
)

// patience is how long anything may take before a test gives up.
const patience = 30 * time.Second

// world is a cluster with two nodes.
type world struct {
	*testing.T
	client kubernetes.Interface
}

func start(t *testing.T) *world {
	t.Helper()
	return startWith(t, cluster.Options{Nodes: 2, Logger: slog.New(slog.DiscardHandler)})
}

func startWith(t *testing.T, options cluster.Options) *world {
	t.Helper()
	c, err := cluster.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, client: client}
	w.eventually(func(ctx context.Context) string {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 2 {
			return fmt.Sprintf("nodes %v, error %v", nodes, err)
		}
		for _, node := range nodes.Items {
			if len(node.Spec.Taints) > 0 || node.Status.Allocatable.Cpu().IsZero() {
				return fmt.Sprintf("node %s isn't ready", node.Name)
			}
		}
		if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
	return w
}

// eventually asks until the answer is empty; the answer says what is still amiss.
func (w *world) eventually(amiss func(ctx context.Context) string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		answer := amiss(ctx)
		if answer == "" {
			return
		}
		select {
		case <-ctx.Done():
			w.Fatalf("for too long: %s", answer)
		case <-tick.C:
		}
	}
}

func (w *world) pod(name string, change func(*corev1.Pod)) {
	w.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: ptr.To[int64](1), Containers: []corev1.Container{{Name: "c", Image: "app:1"}},
	}}
	if change != nil {
		change(pod)
	}
	if _, err := w.client.CoreV1().Pods("default").Create(w.Context(), pod, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) patchNode(name, body string) {
	w.Helper()
	_, err := w.client.CoreV1().Nodes().Patch(w.Context(), name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// placed waits until a pod has a node and gives it.
func (w *world) placed(name string) (node string) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		pod, err := w.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if node = pod.Spec.NodeName; node == "" {
			return fmt.Sprintf("pod %s has no node: %v", name, pod.Status.Conditions)
		}
		return ""
	})
	return node
}

// refused waits until a pod's condition and an event say why it has no node.
func (w *world) refused(name, why string) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		pod, err := w.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && c.Message == why {
				return w.event(ctx, name, "FailedScheduling", why)
			}
		}
		return fmt.Sprintf("conditions %v", pod.Status.Conditions)
	})
}

func (w *world) event(ctx context.Context, pod, reason, note string) string {
	return w.eventBy(ctx, "default-scheduler", pod, reason, note)
}

func (w *world) eventBy(ctx context.Context, controller, pod, reason, note string) string {
	events, err := w.client.EventsV1().Events("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	for _, e := range events.Items {
		if e.Regarding.Name == pod && e.Reason == reason && e.Note == note && e.ReportingController == controller {
			return ""
		}
	}
	return fmt.Sprintf("no event %s %q of pod %s", reason, note, pod)
}

func requests(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

func TestAPodIsPlacedAndSaidToBe(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pod("a", nil)
	node := w.placed("a")
	w.eventually(func(ctx context.Context) string {
		return w.event(ctx, "a", "Scheduled", "Successfully assigned default/a to "+node)
	})
	w.pod("b", nil)
	if other := w.placed("b"); other == node {
		t.Errorf("both pods are on %s", node)
	}
}

func TestAPodThatFitsNowhereWaitsForRoom(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pod("huge", requests("9999"))
	w.refused("huge", "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	port := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	for _, name := range []string{"a", "b"} {
		w.pod(name, port)
		w.placed(name)
	}
	w.pod("c", port)
	w.refused("c", "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.")
	if err := w.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.placed("c")
}

func TestNodesThatAreClosedOpenAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.patchNode("node-0", `{"spec":{"unschedulable":true}}`)
	w.patchNode("node-1", `{"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}}`)
	w.eventually(func(ctx context.Context) string {
		node, err := w.client.CoreV1().Nodes().Get(ctx, "node-0", metav1.GetOptions{})
		if err != nil || len(node.Spec.Taints) == 0 {
			return fmt.Sprintf("the cordoned node has no taint; error %v", err)
		}
		return ""
	})
	w.pod("p", nil)
	w.refused("p", "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	w.patchNode("node-0", `{"spec":{"unschedulable":false}}`)
	if got := w.placed("p"); got != "node-0" {
		t.Errorf("placed on %s", got)
	}
}

func TestAffinityAndNames(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pod("picky", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "fast"} })
	w.refused("picky", "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	w.patchNode("node-1", `{"metadata":{"labels":{"disk":"fast"}}}`)
	if got := w.placed("picky"); got != "node-1" {
		t.Errorf("placed on %s", got)
	}
	named := func(node string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}},
			}}}
		}
	}
	w.pod("named", named("node-0"))
	if got := w.placed("named"); got != "node-0" {
		t.Errorf("placed on %s", got)
	}
	w.pod("lost", named("nowhere"))
	w.refused("lost", "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
}

func TestAGateIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/g"}} })
	w.pod("other", nil)
	w.placed("other")
	pod, err := w.client.CoreV1().Pods("default").Get(t.Context(), "gated", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "" {
		t.Fatalf("placed on %q through its gate; error %v", pod.Spec.NodeName, err)
	}
	_, err = w.client.CoreV1().Pods("default").Patch(t.Context(), "gated", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.placed("gated")
}

func TestManyPodsAreSpreadEvenly(t *testing.T) {
	t.Parallel()
	w := start(t)
	const count = 60
	for i := range count {
		w.pod(fmt.Sprintf("p%d", i), requests("10m"))
	}
	perNode := map[string]int{}
	for i := range count {
		perNode[w.placed(fmt.Sprintf("p%d", i))]++
	}
	for node, pods := range perNode {
		if pods < count/2-2 || !strings.HasPrefix(node, "node-") {
			t.Errorf("pods per node are %v", perNode)
		}
	}
}

// TestCompanyAndSpreading lets pods keep apart, and be near each other, in a cluster of
// two nodes that are a zone each.
func TestCompanyAndSpreading(t *testing.T) {
	t.Parallel()
	w := start(t)
	apart := func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:   corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}},
		}}
	}
	w.pod("one", apart)
	w.pod("two", apart)
	if one, two := w.placed("one"), w.placed("two"); one == two {
		t.Errorf("both pods are on %s", one)
	}
	w.pod("three", apart)
	w.refused("three", "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. "+
		"preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.")
	w.pod("near", func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:   corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "late"}},
			}},
		}}
	})
	w.refused("near", "0/2 nodes are available: 2 node(s) didn't match pod affinity rules. "+
		"preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	w.pod("late", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "late"} })
	if near, late := w.placed("near"), w.placed("late"); near != late {
		t.Errorf("near is on %s, late on %s", near, late)
	}
}

// TestPreemption lets an urgent pod take the place of another, which is told why, and keeps
// that place for it.
func TestPreemption(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, value := range map[string]int32{"urgent": 1000, "modest": 1000, "plain": 10} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		if name == "modest" {
			class.PreemptionPolicy = ptr.To(corev1.PreemptNever)
		}
		if _, err := w.client.SchedulingV1().PriorityClasses().Create(w.Context(), class, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
	of := func(class string, change func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.PriorityClassName = class
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/seat": resource.MustParse("1")}
			p.Spec.Containers[0].Resources.Limits = p.Spec.Containers[0].Resources.Requests
			if change != nil {
				change(p)
			}
		}
	}
	nodes, err := w.client.CoreV1().Nodes().List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	seats := []byte(`{"status":{"capacity":{"example.com/seat":"1"},"allocatable":{"example.com/seat":"1"}}}`)
	if _, err := w.client.CoreV1().Nodes().Patch(w.Context(), nodes.Items[0].Name, types.StrategicMergePatchType, seats, metav1.PatchOptions{}, "status"); err != nil {
		w.Fatal(err)
	}
	finalizer := func(p *corev1.Pod) { p.Finalizers = []string{"example.com/held"} }
	w.pod("sits", of("plain", finalizer))
	seat := w.placed("sits")
	w.pod("modest", of("modest", nil))
	w.refused("modest", "0/2 nodes are available: 2 Insufficient example.com/seat. preemption: not eligible due to preemptionPolicy=Never.")
	if err := w.client.CoreV1().Pods("default").Delete(w.Context(), "modest", metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
	w.pod("takes", of("urgent", nil))
	w.eventually(func(ctx context.Context) string { return w.preempted(ctx, "sits", "takes", seat) })
	// The kubelet may write its status at the same time, so not by an update.
	if _, err := w.client.CoreV1().Pods("default").Patch(w.Context(), "sits", types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		w.Fatal(err)
	}
	if got := w.placed("takes"); got != seat {
		t.Errorf("the urgent pod is on %s, the seat on %s", got, seat)
	}
}

// preempted says what is amiss with a victim's end and the nomination of the pod that takes
// its place.
func (w *world) preempted(ctx context.Context, victim, by, node string) string {
	gone, err := w.client.CoreV1().Pods("default").Get(ctx, victim, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	next, err := w.client.CoreV1().Pods("default").Get(ctx, by, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	if gone.DeletionTimestamp == nil || next.Status.NominatedNodeName != node {
		return fmt.Sprintf("victim deleted: %v, nominated: %q", gone.DeletionTimestamp, next.Status.NominatedNodeName)
	}
	for _, c := range gone.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Reason == corev1.PodReasonPreemptionByScheduler &&
			c.Message == "default-scheduler: preempting to accommodate a higher priority pod" {
			return w.event(ctx, victim, "Preempted", fmt.Sprintf("Preempted by pod %s on node %s", next.UID, node))
		}
	}
	return fmt.Sprintf("the victim's conditions are %v", gone.Status.Conditions)
}
