package daemonset

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testSet updates one node at a time, or surges when surge isn't zero.
func testSet(surge int32) *appsv1.DaemonSet {
	unavailable := int32(1)
	if surge > 0 {
		unavailable = 0
	}
	return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "ns", Generation: 4}, Spec: appsv1.DaemonSetSpec{
		RevisionHistoryLimit: ptr.To[int32](1),
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: ptr.To(intstr.FromInt32(surge)), MaxUnavailable: ptr.To(intstr.FromInt32(unavailable))}},
	}}
}

func testNode(name string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}, Spec: corev1.NodeSpec{Taints: taints}}
}

// testPod has been ready on the node for an hour.
func testPod(name, node, hash string, changes ...func(*corev1.Pod)) *corev1.Pod {
	hourAgo := metav1.NewTime(testTime.Add(-time.Hour))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{hashLabel: hash}, CreationTimestamp: hourAgo},
		Spec:       corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func unready(pod *corev1.Pod)  { pod.Status.Conditions = nil }
func failed(pod *corev1.Pod)   { pod.Status.Phase = corev1.PodFailed; unready(pod) }
func deleting(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: testTime} }

func TestDecide(t *testing.T) {
	t.Parallel()
	taint := func(effect corev1.TaintEffect) corev1.Taint { return corev1.Taint{Key: "k", Effect: effect} }
	nodes := []*corev1.Node{testNode("a"), testNode("b")}
	for name, c := range map[string]struct {
		surge    int32
		nodes    []*corev1.Node
		pods     []*corev1.Pod
		heldBack map[string]time.Duration
		create   []string
		delete   []string
	}{
		"every node gets one":                {0, nodes, nil, nil, []string{"a", "b"}, nil},
		"all there":                          {0, nodes, []*corev1.Pod{testPod("1", "a", "new"), testPod("2", "b", "new")}, nil, nil, nil},
		"a tainted node gets none":           {0, []*corev1.Node{testNode("a", taint(corev1.TaintEffectNoSchedule))}, nil, nil, nil, nil},
		"and keeps the one it has":           {0, []*corev1.Node{testNode("a", taint(corev1.TaintEffectNoSchedule))}, []*corev1.Pod{testPod("1", "a", "new")}, nil, nil, nil},
		"unless it may not run on":           {0, []*corev1.Node{testNode("a", taint(corev1.TaintEffectNoExecute))}, []*corev1.Pod{testPod("1", "a", "new")}, nil, nil, []string{"1"}},
		"cordoned nodes count":               {0, []*corev1.Node{testNode("a", corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})}, nil, nil, []string{"a"}, nil},
		"one too many: the older stays":      {0, nodes[:1], []*corev1.Pod{testPod("2", "a", "new"), testPod("1", "a", "new")}, nil, nil, []string{"2"}},
		"a failed one is replaced":           {0, nodes[:1], []*corev1.Pod{testPod("1", "a", "new", failed)}, nil, nil, []string{"1"}},
		"but not at once again":              {0, nodes[:1], []*corev1.Pod{testPod("1", "a", "new", failed)}, map[string]time.Duration{"a": time.Second}, nil, nil},
		"one on its way out is waited for":   {0, nodes[:1], []*corev1.Pod{testPod("1", "a", "new", deleting)}, nil, nil, nil},
		"update: one node at a time":         {0, nodes, []*corev1.Pod{testPod("1", "a", "old"), testPod("2", "b", "old")}, nil, nil, []string{"1"}},
		"update: waits for the new one":      {0, nodes, []*corev1.Pod{testPod("1", "a", "new", unready), testPod("2", "b", "old")}, nil, nil, nil},
		"update: broken old ones go first":   {0, nodes, []*corev1.Pod{testPod("1", "a", "old"), testPod("2", "b", "old", unready)}, nil, nil, []string{"2"}},
		"surge: a new one beside the old":    {1, nodes, []*corev1.Pod{testPod("1", "a", "old"), testPod("2", "b", "old")}, nil, []string{"a"}, nil},
		"surge: waits until it is available": {1, nodes, []*corev1.Pod{testPod("1", "a", "old"), testPod("3", "a", "new", unready), testPod("2", "b", "old")}, nil, nil, nil},
		"surge: then the old one goes":       {1, nodes, []*corev1.Pod{testPod("1", "a", "old"), testPod("3", "a", "new"), testPod("2", "b", "old")}, nil, nil, []string{"1"}},
		"a pod for a node that is gone": {0, nodes[:1], []*corev1.Pod{testPod("1", "a", "new"), testPod("2", "", "new", func(pod *corev1.Pod) { pin(&pod.Spec, "gone") })},
			nil, nil, []string{"2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(Observed{Set: testSet(c.surge), Nodes: c.nodes, Pods: c.pods, Hash: "new", HeldBack: c.heldBack, Now: testTime})
			var deleted []string
			for _, pod := range plan.Delete {
				deleted = append(deleted, pod.Name)
			}
			if !slices.Equal(plan.Create, c.create) || !slices.Equal(deleted, c.delete) {
				t.Errorf("creates on %v, deletes %v; want %v and %v", plan.Create, deleted, c.create, c.delete)
			}
			if len(c.heldBack) > 0 && plan.CheckAfter != time.Second {
				t.Errorf("looks again after %v", plan.CheckAfter)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	status := Status(Observed{Set: testSet(0), Hash: "new", Now: testTime,
		Nodes: []*corev1.Node{testNode("a"), testNode("b"), testNode("c"), testNode("d", corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule})},
		Pods:  []*corev1.Pod{testPod("1", "a", "new"), testPod("2", "b", "old", unready), testPod("3", "d", "new")}})
	want := appsv1.DaemonSetStatus{ObservedGeneration: 4, DesiredNumberScheduled: 3, CurrentNumberScheduled: 2, NumberMisscheduled: 1,
		NumberReady: 1, NumberAvailable: 1, NumberUnavailable: 2, UpdatedNumberScheduled: 1}
	if status.String() != want.String() {
		t.Errorf("got  %v\nwant %v", status.String(), want.String())
	}
}

func TestNewPod(t *testing.T) {
	t.Parallel()
	pod := newPod(testSet(0), "new", "a")
	if nodeOf(pod) != "a" || pod.Spec.NodeName != "" || pod.Labels[hashLabel] != "new" || len(pod.Spec.Tolerations) != 6 {
		t.Errorf("got %+v", pod)
	}
}

func TestExpired(t *testing.T) {
	t.Parallel()
	one := func(name string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hashLabel: name}}}
	}
	drop := expired(testSet(0), []*appsv1.ControllerRevision{one("1"), one("2"), one("3")}, []*corev1.Pod{testPod("p", "a", "1")})
	if len(drop) != 2 || drop[0].Name != "2" || drop[1].Name != "3" {
		t.Errorf("drops %v", drop)
	}
}

func TestRevisionsThatMatter(t *testing.T) {
	t.Parallel()
	owned := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: "a", Controller: ptr.To(true)}}}}
	for _, tt := range []struct {
		name string
		got  bool
		want bool
	}{
		{"made with an owner", revisionChanged.Create(event.CreateEvent{Object: owned}), false},
		{"made without", revisionChanged.Create(event.CreateEvent{Object: &appsv1.ControllerRevision{}}), true},
		{"updated", revisionChanged.Update(event.UpdateEvent{ObjectOld: owned, ObjectNew: owned}), true},
		{"deleted", revisionChanged.Delete(event.DeleteEvent{Object: owned}), true},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v", tt.name, tt.got)
		}
	}
}
