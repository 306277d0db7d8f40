package replicaset

import (
	"errors"
	"slices"

	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type change func(*corev1.Pod)

// testPod is a pod that has been ready on node n for an hour.
func testPod(name string, changes ...change) *corev1.Pod {
	hourAgo := metav1.NewTime(testTime.Add(-time.Hour))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: hourAgo},
		Spec:       corev1.PodSpec{NodeName: "n"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo},
		}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func on(node string) change  { return func(p *corev1.Pod) { p.Spec.NodeName = node } }
func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func pending(p *corev1.Pod)  { p.Status.Phase = corev1.PodPending }
func readyFor(d time.Duration) change {
	return func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(testTime.Add(-d)) }
}
func aged(d time.Duration) change {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(testTime.Add(-d)) }
}
func cost(c string) change {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: c} }
}
func restarted(times int32) change {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: times}} }
}

func TestRankForDeletion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second *corev1.Pod }{
		"unassigned before assigned":      {testPod("b", on("")), testPod("a", pending, notReady)},
		"pending before running":          {testPod("b", pending), testPod("a", notReady)},
		"not ready before ready":          {testPod("b", notReady), testPod("a", cost("-5"))},
		"cheaper before dearer":           {testPod("b", cost("-1")), testPod("a")},
		"less long ready":                 {testPod("b", readyFor(time.Minute)), testPod("a", restarted(9))},
		"about as long ready: uid":        {testPod("a", readyFor(60*time.Minute)), testPod("b", readyFor(61*time.Minute))},
		"more restarts":                   {testPod("b", restarted(2)), testPod("a", restarted(1), aged(time.Minute))},
		"younger":                         {testPod("b", aged(time.Minute)), testPod("a")},
		"a cost that is no number counts": {testPod("b", cost("-1")), testPod("a", cost("cheap"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pods := range [][]*corev1.Pod{{c.first, c.second}, {c.second, c.first}} {
				if ranked := rankForDeletion(pods, nil, testTime); ranked[0] != c.first {
					t.Errorf("of %s and %s, %s goes first", pods[0].Name, pods[1].Name, ranked[0].Name)
				}
			}
		})
	}
}

func TestRelatedPodsOnTheNodeCount(t *testing.T) {
	t.Parallel()
	alone, crowded := testPod("a", on("quiet")), testPod("b", on("full"))
	related := []*corev1.Pod{alone, crowded, testPod("other", on("full"))}
	if ranked := rankForDeletion([]*corev1.Pod{alone, crowded}, related, testTime); ranked[0] != crowded {
		t.Error("the pod that is alone on its node goes first")
	}
}

func testSet(replicas int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "rs", Generation: 3},
		Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To(replicas)},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	deleted := testSet(3)
	deleted.DeletionTimestamp = ptr.To(metav1.Now())
	three := []*corev1.Pod{testPod("a"), testPod("b", notReady), testPod("c")}
	for name, c := range map[string]struct {
		set    *appsv1.ReplicaSet
		pods   []*corev1.Pod
		create int
		remove []string
	}{
		"too few":             {testSet(5), three, 2, nil},
		"enough":              {testSet(3), three, 0, nil},
		"too many":            {testSet(2), three, 0, []string{"b"}},
		"none wanted":         {testSet(0), three, 0, []string{"b", "a", "c"}},
		"very many":           {testSet(2000), three, podcontrol.Burst, nil},
		"being deleted":       {deleted, nil, 0, nil},
		"nothing there, none": {testSet(0), nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(Observed{ReplicaSet: c.set, Active: c.pods, Related: c.pods, Now: testTime})
			var remove []string
			for _, pod := range plan.Delete {
				remove = append(remove, pod.Name)
			}
			if plan.Create != c.create || !slices.Equal(remove, c.remove) {
				t.Errorf("create %d, delete %v; want %d, %v", plan.Create, remove, c.create, c.remove)
			}
		})
	}
}

func TestAvailabilityComesWithTime(t *testing.T) {
	t.Parallel()
	set := testSet(3)
	set.Spec.MinReadySeconds = 60
	observed := Observed{ReplicaSet: set, Now: testTime, Active: []*corev1.Pod{
		testPod("a", readyFor(10*time.Second)), testPod("b", readyFor(45*time.Second)), testPod("c"),
	}}
	plan := Decide(observed)
	if plan.CheckAfter != 15*time.Second {
		t.Errorf("look again after %v, want 15s", plan.CheckAfter)
	}
	if status := Status(observed, plan, nil); status.ReadyReplicas != 3 || status.AvailableReplicas != 1 || status.ObservedGeneration != 3 {
		t.Errorf("status %+v", status)
	}
}

func TestFailureCondition(t *testing.T) {
	t.Parallel()
	set := testSet(2)
	observed := Observed{ReplicaSet: set, Now: testTime}
	set.Status = Status(observed, Decide(observed), errors.New("quota"))
	if c := set.Status.Conditions; len(c) != 1 || c[0].Reason != "FailedCreate" || c[0].Message != "quota" {
		t.Fatalf("conditions %v", c)
	}
	set.Status = Status(observed, Decide(observed), errors.New("another"))
	if c := set.Status.Conditions; len(c) != 1 || c[0].Message != "quota" {
		t.Errorf("the first error no longer stands: %v", c)
	}
	set.Status = Status(observed, Decide(observed), nil)
	if len(set.Status.Conditions) != 0 {
		t.Errorf("it went well, and still %v", set.Status.Conditions)
	}
}
