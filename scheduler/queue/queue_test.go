package queue

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// fixture is a queue of which only an added node helps, and only what "fit" refused.
type fixture struct {
	*Queue
	t     *testing.T
	clock *testingclock.FakeClock
}

func newFixture(t *testing.T) *fixture {
	clock := testingclock.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return &fixture{t: t, clock: clock, Queue: New(Options{
		MinBackoff: time.Second, MaxBackoff: 10 * time.Second,
		Clock: clock,
		PreEnqueue: func(pod *corev1.Pod) *framework.Status {
			if len(pod.Spec.SchedulingGates) > 0 {
				return framework.NewStatus(framework.Unresolvable, "gated")
			}
			return nil
		},
		Helps: func(_ *corev1.Pod, refused map[string]bool, event framework.Event) bool {
			return refused["fit"] && event.Change&(framework.NodeAdded|framework.SelfLabels) != 0
		},
	})}
}

func pod(name string, priority int32) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: corev1.PodSpec{Priority: &priority}}
}

// next is the pod that comes now, or "".
func (f *fixture) next() string {
	entry, _ := f.take()
	if entry == nil {
		return ""
	}
	f.Done(entry.Pod.UID)
	return entry.Pod.Name
}

// refuse takes the next pod and refuses it.
func (f *fixture) refuse(during ...framework.Event) {
	f.t.Helper()
	entry, _ := f.take()
	if entry == nil {
		f.t.Fatal("there is no pod to try")
	}
	for _, event := range during {
		f.Happened(event)
	}
	f.Refuse(entry, entry.Pod, map[string]bool{"fit": true})
}

var nodeAdded = framework.Event{Change: framework.NodeAdded}

func TestByPriorityThenAge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, p := range []*corev1.Pod{pod("low", 1), pod("high", 9), pod("low-later", 1), pod("high-later", 9)} {
		f.Set(p)
		f.clock.Step(time.Second)
	}
	for _, want := range []string{"high", "high-later", "low", "low-later", ""} {
		if got := f.next(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestARefusedPodWaitsForWhatHelps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("p", 0))
	f.refuse()
	f.Happened(framework.Event{Change: framework.NodeLabels})
	if got := f.next(); got != "" {
		t.Fatalf("%s comes back for something that doesn't help", got)
	}
	f.Happened(nodeAdded)
	if got := f.next(); got != "p" {
		t.Errorf("got %q after something that helps", got)
	}
}

func TestNoEventIsLostDuringATry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("p", 0))
	f.refuse(framework.Event{Change: framework.NodeLabels}, nodeAdded)
	if got := f.next(); got != "p" {
		t.Errorf("got %q", got)
	}
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("p", 0))
	f.refuse()
	f.clock.Step(patience - time.Second)
	if got := f.next(); got != "" {
		t.Fatalf("%s comes too early", got)
	}
	f.clock.Step(time.Second)
	if got := f.next(); got != "p" {
		t.Errorf("got %q", got)
	}
}

func TestAfterAnErrorTheBackoffIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("p", 0))
	for attempt, wait := range []time.Duration{1, 2, 4, 8, 10, 10} {
		entry, _ := f.take()
		if entry == nil || entry.Attempts != attempt+1 {
			t.Fatalf("attempt %d: got %+v", attempt+1, entry)
		}
		f.Fail(entry, entry.Pod)
		f.clock.Step(wait*time.Second - time.Millisecond)
		if early, _ := f.take(); early != nil {
			t.Fatalf("attempt %d comes before %d s are over", attempt+2, wait)
		}
		f.clock.Step(time.Millisecond)
	}
}

func TestOthersGoFirstDuringBackoff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("p", 9))
	f.refuse(nodeAdded)
	f.Set(pod("q", 0))
	if got := f.next(); got != "q" {
		t.Errorf("got %q", got)
	}
}

func TestGates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	gated := pod("p", 0)
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	f.Set(gated)
	f.Happened(nodeAdded)
	f.clock.Step(time.Hour)
	if got := f.next(); got != "" || f.Waiting() != 1 {
		t.Fatalf("got %q through its gate, %d wait", got, f.Waiting())
	}
	f.Set(pod("p", 0))
	if got := f.next(); got != "p" {
		t.Errorf("got %q", got)
	}
}

func TestAChangeOfThePodItself(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("p", 0))
	f.refuse()
	onlyStatus := pod("p", 0)
	onlyStatus.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled}}
	f.Set(onlyStatus)
	if got := f.next(); got != "" {
		t.Fatalf("%s comes back since its condition was written", got)
	}
	labelled := onlyStatus.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	f.Set(labelled)
	if got := f.next(); got != "p" {
		t.Errorf("got %q", got)
	}
}

func TestRemovedPodsDontCome(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set(pod("active", 0))
	f.Remove(pod("active", 0))
	f.Set(pod("refused", 0))
	f.refuse()
	f.Remove(pod("refused", 0))
	f.Happened(nodeAdded)
	if got := f.next(); got != "" || f.Waiting() != 0 {
		t.Errorf("got %q, %d wait", got, f.Waiting())
	}
}

func TestPopWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got := make(chan string, 1)
	go func() {
		entry, err := f.Pop(ctx)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- entry.Pod.Name
	}()
	f.Set(pod("p", 0))
	if name := <-got; name != "p" {
		t.Errorf("got %s", name)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := f.Pop(ended); err == nil {
		t.Error("Pop goes on after its context has ended")
	}
}
