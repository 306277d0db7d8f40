package status

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

var began = time.Date(2026, 1, 1, 12, 0, 0, 5e8, time.UTC)

func pod(policy v1.RestartPolicy, names ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: 3}, Spec: v1.PodSpec{RestartPolicy: policy}}
	for _, name := range names {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: name, Image: "image"})
	}
	return p
}

func observed(containers ...runtime.Container) *runtime.Pod {
	o := &runtime.Pod{Sandboxes: []runtime.Sandbox{{ID: "box", Ready: true, NetworkReported: true, IPs: []string{"fd00::1", "10.0.0.7"}}}}
	for _, c := range containers {
		c.ID, c.SandboxID, c.StartedAt = "id-"+c.Name, "box", began
		o.Containers = append(o.Containers, c)
	}
	return o
}

func input(p *v1.Pod, o *runtime.Pod) Input {
	return Input{
		Pod: p, Old: &p.Status, Observed: o, RuntimeName: "containerd", Now: began.Add(time.Minute),
		Probes: func(string) plan.Probes { return plan.Probes{} }, HostIPs: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
	}
}

func running(name string) runtime.Container {
	return runtime.Container{Name: name, State: runtime.StateRunning}
}
func exited(name string, code int32) runtime.Container {
	return runtime.Container{Name: name, State: runtime.StateExited, ExitCode: code}
}

func statusOf(s *v1.PodStatus, kind v1.PodConditionType) v1.PodCondition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return v1.PodCondition{}
}

func TestRunningPod(t *testing.T) {
	t.Parallel()
	s := Generate(input(pod("Always", "a"), observed(running("a"))))
	if s.Phase != v1.PodRunning || s.ObservedGeneration != 3 || s.HostIP != "192.0.2.1" {
		t.Errorf("status = %+v", s)
	}
	// The address of the node's family comes first.
	if s.PodIP != "10.0.0.7" || len(s.PodIPs) != 2 || s.PodIPs[1].IP != "fd00::1" {
		t.Errorf("addresses = %v", s.PodIPs)
	}
	c := s.ContainerStatuses[0]
	if !c.Ready || !*c.Started || c.ContainerID != "containerd://id-a" || !c.State.Running.StartedAt.Time.Equal(began.Truncate(time.Second)) {
		t.Errorf("container = %+v", c)
	}
	for _, kind := range []v1.PodConditionType{v1.PodReady, v1.ContainersReady, v1.PodInitialized, v1.PodScheduled, v1.PodReadyToStartContainers} {
		if got := statusOf(&s, kind); got.Status != v1.ConditionTrue || got.ObservedGeneration != 3 {
			t.Errorf("%s = %+v", kind, got)
		}
	}
}

// A status that is derived again from itself is the same: nothing is written.
func TestStatusIsStable(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a", "b")
	p.Spec.InitContainers = []v1.Container{{Name: "i"}}
	in := input(p, observed(running("a"), exited("b", 1), exited("i", 0)))
	in.Reasons = map[string]Reason{"b": {"CrashLoopBackOff", "later"}}
	first := Generate(in)
	in.Old, in.Now = &first, in.Now.Add(time.Hour)
	second := Generate(in)
	if patch, err := Patch("uid", &first, &second); err != nil || patch != nil {
		t.Errorf("patch = %s, err = %v", patch, err)
	}
}

func TestPhase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		policy   v1.RestartPolicy
		seen     []runtime.Container
		terminal bool
		want     v1.PodPhase
	}{
		{"nothing yet", "Always", nil, false, v1.PodPending},
		{"one of two", "Always", []runtime.Container{running("a")}, false, v1.PodPending},
		{"both", "Always", []runtime.Container{running("a"), running("b")}, false, v1.PodRunning},
		{"one ended", "Never", []runtime.Container{running("a"), exited("b", 1)}, false, v1.PodRunning},
		{"both succeeded", "Never", []runtime.Container{exited("a", 0), exited("b", 0)}, false, v1.PodSucceeded},
		{"one failed", "Never", []runtime.Container{exited("a", 0), exited("b", 1)}, false, v1.PodFailed},
		{"one failed, on failure", "OnFailure", []runtime.Container{exited("a", 0), exited("b", 1)}, false, v1.PodRunning},
		{"restarting", "Always", []runtime.Container{exited("a", 0), exited("b", 0)}, false, v1.PodRunning},
		{"ending", "Always", []runtime.Container{exited("a", 0), exited("b", 0)}, true, v1.PodSucceeded},
		{"ending, one failed", "Always", []runtime.Container{exited("a", 0), exited("b", 137)}, true, v1.PodFailed},
	} {
		o := observed(test.seen...)
		o.Sandboxes[0].Ready = false // so that a terminal phase is not held back
		in := input(pod(test.policy, "a", "b"), o)
		in.Terminal = test.terminal
		in.Old = &v1.PodStatus{Phase: v1.PodPending}
		if len(o.Running()) > 0 {
			in.Observed.Sandboxes[0].Ready = true
		}
		if got := Generate(in).Phase; got != test.want {
			t.Errorf("%s: phase = %s, want %s", test.name, got, test.want)
		}
	}
}

// The phase becomes terminal only when nothing of the pod runs any more.
func TestTerminalPhaseIsHeldBack(t *testing.T) {
	t.Parallel()
	p := pod("Never", "a")
	p.Status.Phase = v1.PodRunning
	if got := Generate(input(p, observed(exited("a", 0)))).Phase; got != v1.PodRunning {
		t.Errorf("phase = %s while the sandbox lives", got)
	}
	in := input(p, observed(running("a")))
	in.Verdict = &Verdict{Reason: "Evicted", Message: "why"}
	if got := Generate(in); got.Phase != v1.PodRunning || got.Reason != "" {
		t.Errorf("phase = %s, reason = %q while a container runs", got.Phase, got.Reason)
	}
	in.Observed = observed(exited("a", 137))
	in.Observed.Sandboxes[0].Ready = false
	got := Generate(in)
	if got.Phase != v1.PodFailed || got.Reason != "Evicted" || got.Message != "why" {
		t.Errorf("status = %+v", got)
	}
	// And never changes again.
	p.Status = got
	if again := Generate(input(p, observed(running("a")))); again.Phase != v1.PodFailed || again.Reason != "Evicted" {
		t.Errorf("status = %+v", again)
	}
}

func TestWaitingContainers(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a")
	if got := Generate(input(p, &runtime.Pod{})).ContainerStatuses[0].State.Waiting.Reason; got != "ContainerCreating" {
		t.Errorf("reason = %q", got)
	}
	in := input(p, observed(exited("a", 3)))
	in.Reasons = map[string]Reason{"a": {"CrashLoopBackOff", "back-off"}}
	got := Generate(in).ContainerStatuses[0]
	if got.State.Waiting == nil || got.State.Waiting.Reason != "CrashLoopBackOff" || got.LastTerminationState.Terminated.ExitCode != 3 {
		t.Errorf("status = %+v", got)
	}
	p.Spec.InitContainers = []v1.Container{{Name: "i"}}
	s := Generate(input(p, observed()))
	if got := s.ContainerStatuses[0].State.Waiting.Reason; got != "PodInitializing" {
		t.Errorf("reason = %q", got)
	}
	if got := statusOf(&s, v1.PodInitialized); got.Message != "containers with incomplete status: [i]" {
		t.Errorf("initialized = %+v", got)
	}
	if got := statusOf(&s, v1.PodReady); got.Message != "containers with unready status: [a]" || got.Reason != "ContainersNotReady" {
		t.Errorf("ready = %+v", got)
	}
}

// A container that ran and that nobody can find any more is not taken for one that never ran.
func TestLostContainer(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a")
	p.Status = Generate(input(p, observed(running("a"))))
	got := Generate(input(p, observed())).ContainerStatuses[0]
	if got.LastTerminationState.Terminated == nil || got.LastTerminationState.Terminated.Reason != "ContainerStatusUnknown" || got.RestartCount != 1 {
		t.Errorf("status = %+v", got)
	}
	in := input(p, observed())
	in.Finished, in.Terminal, in.Observed.Sandboxes = true, true, nil
	if got := Generate(in); got.Phase != v1.PodFailed || got.ContainerStatuses[0].State.Terminated.ExitCode != 137 {
		t.Errorf("status = %+v", got)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a")
	p.Spec.Containers[0].ReadinessProbe = &v1.Probe{}
	ready := v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", ContainerID: "containerd://id-a", Ready: true}}}
	for _, test := range []struct {
		name   string
		result plan.ProbeResult
		old    v1.PodStatus
		want   bool
	}{
		{"not asked yet", plan.Unknown, v1.PodStatus{}, false},
		{"not asked yet since the kubelet was replaced", plan.Unknown, ready, true},
		{"yes", plan.Success, v1.PodStatus{}, true},
		{"no", plan.Failure, ready, false},
	} {
		in := input(p, observed(running("a")))
		in.Old = &test.old
		in.Probes = func(string) plan.Probes { return plan.Probes{Readiness: test.result} }
		if got := Generate(in).ContainerStatuses[0].Ready; got != test.want {
			t.Errorf("%s: ready = %v", test.name, got)
		}
	}
}

func TestReadinessGate(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a")
	p.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	s := Generate(input(p, observed(running("a"))))
	if got := statusOf(&s, v1.PodReady); got.Message != `corresponding condition of pod readiness gate "example.com/gate" does not exist.` {
		t.Errorf("ready = %+v", got)
	}
	p.Status.Conditions = []v1.PodCondition{{Type: "example.com/gate", Status: v1.ConditionTrue}}
	s = Generate(input(p, observed(running("a"))))
	if got := statusOf(&s, v1.PodReady); got.Status != v1.ConditionTrue {
		t.Errorf("ready = %+v", got)
	}
	if got := statusOf(&s, "example.com/gate"); got.Status != v1.ConditionTrue {
		t.Error("a condition of others was dropped")
	}
}

func TestTransitionTimeMovesWithTheStatus(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a")
	p.Status = Generate(input(p, observed(running("a"))))
	in := input(p, observed(running("a")))
	in.Now = began.Add(time.Hour)
	s := Generate(in)
	if got, want := statusOf(&s, v1.PodReady).LastTransitionTime, statusOf(&p.Status, v1.PodReady).LastTransitionTime; !got.Equal(&want) {
		t.Errorf("time moved from %v to %v", want, got)
	}
	in.Observed = observed(exited("a", 0))
	s = Generate(in)
	if got := statusOf(&s, v1.PodReady).LastTransitionTime; !got.Time.Equal(began.Add(time.Hour).Truncate(time.Second)) {
		t.Errorf("time = %v", got)
	}
}

func TestPatchLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	p := pod("Always", "a")
	s := Generate(input(p, observed(running("a"))))
	patch, err := Patch("uid", &p.Status, &s)
	if err != nil {
		t.Fatal(err)
	}
	theirs := v1.Pod{Status: v1.PodStatus{Conditions: []v1.PodCondition{{Type: "example.com/theirs", Status: v1.ConditionTrue}}}}
	before, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, v1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	var got v1.Pod
	if err := json.Unmarshal(after, &got); err != nil {
		t.Fatal(err)
	}
	if statusOf(&got.Status, "example.com/theirs").Status != v1.ConditionTrue || !reflect.DeepEqual(got.Status.PodIPs, s.PodIPs) {
		t.Errorf("status = %+v", got.Status)
	}
}
