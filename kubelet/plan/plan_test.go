package plan

import (
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

var (
	always = v1.ContainerRestartPolicyAlways
	began  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// spec makes a pod from the names of init containers ("name!" is a sidecar) and main containers.
func spec(policy v1.RestartPolicy, inits, mains []string) *v1.Pod {
	pod := &v1.Pod{Spec: v1.PodSpec{RestartPolicy: policy}}
	for _, name := range inits {
		c := v1.Container{Name: name}
		if name[len(name)-1] == '!' {
			c.Name, c.RestartPolicy = name[:len(name)-1], &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for _, name := range mains {
		pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: name})
	}
	return pod
}

// seen makes an observation with one ready sandbox; the containers' ids are their names.
func seen(containers ...runtime.Container) *runtime.Pod {
	observed := &runtime.Pod{Sandboxes: []runtime.Sandbox{{ID: "box", Ready: true, NetworkReported: true, IPs: []string{"10.0.0.1"}}}}
	for _, c := range containers {
		c.ID, c.SandboxID = c.Name, "box"
		c.Hash = runtime.HashContainer(&v1.Container{Name: c.Name})
		if c.State != runtime.StateCreated {
			c.StartedAt = began
		}
		observed.Containers = append(observed.Containers, c)
	}
	return observed
}

func running(name string) runtime.Container {
	return runtime.Container{Name: name, State: runtime.StateRunning}
}
func exited(name string, code int32) runtime.Container {
	return runtime.Container{Name: name, State: runtime.StateExited, ExitCode: code}
}

func init_(names ...string) []Start { return starts(podspec.Init, names) }
func main_(names ...string) []Start { return starts(podspec.Main, names) }

func starts(kind podspec.Kind, names []string) []Start {
	var list []Start
	for _, name := range names {
		list = append(list, Start{name, kind})
	}
	return list
}

func TestCompute(t *testing.T) {
	t.Parallel()
	dead := func(observed *runtime.Pod) *runtime.Pod {
		observed.Sandboxes[0].Ready = false
		return observed
	}
	for _, test := range []struct {
		name     string
		pod      *v1.Pod
		observed *runtime.Pod
		probes   map[string]Probes
		stopping map[string]bool
		want     Plan
	}{
		{"nothing is there", spec("Always", nil, []string{"a"}), &runtime.Pod{}, nil, nil, Plan{CreateSandbox: true, Start: main_("a")}},
		{"nothing is there, init first", spec("Always", []string{"i", "j"}, []string{"a"}), &runtime.Pod{}, nil, nil, Plan{CreateSandbox: true, Start: init_("i")}},
		{"sandbox only", spec("Always", nil, []string{"a", "b"}), seen(), nil, nil, Plan{SandboxID: "box", Start: main_("a", "b")}},
		{"all run", spec("Always", nil, []string{"a"}), seen(running("a")), nil, nil, Plan{SandboxID: "box"}},
		{"one ended", spec("Always", nil, []string{"a", "b"}), seen(running("a"), exited("b", 0)), nil, nil, Plan{SandboxID: "box", Start: main_("b")}},
		{"succeeded, on failure", spec("OnFailure", nil, []string{"a", "b"}), seen(running("a"), exited("b", 0)), nil, nil, Plan{SandboxID: "box"}},
		{"failed, on failure", spec("OnFailure", nil, []string{"a"}), seen(exited("a", 1)), nil, nil, Plan{SandboxID: "box", Start: main_("a")}},
		{"all ended, never", spec("Never", nil, []string{"a"}), seen(exited("a", 1)), nil, nil, Plan{SandboxID: "box", KillPod: true}},
		{"sandbox died", spec("Always", nil, []string{"a"}), dead(seen(exited("a", 137))), nil, nil, Plan{CreateSandbox: true, SandboxID: "box", Attempt: 1, Start: main_("a")}},
		{"sandbox died under a container", spec("Always", nil, []string{"a"}), dead(seen(running("a"))), nil, nil, Plan{KillPod: true, CreateSandbox: true, SandboxID: "box", Attempt: 1, Start: main_("a")}},
		{"sandbox died, never again", spec("Never", nil, []string{"a"}), dead(seen(exited("a", 0))), nil, nil, Plan{SandboxID: "box", Attempt: 1}},
		{"sandbox died, all done", spec("OnFailure", nil, []string{"a"}), dead(seen(exited("a", 0))), nil, nil, Plan{SandboxID: "box", Attempt: 1}},
		{"sandbox died, init runs again", spec("Always", []string{"i"}, []string{"a"}), dead(seen(exited("i", 0), exited("a", 0))), nil, nil, Plan{CreateSandbox: true, SandboxID: "box", Attempt: 1, Start: init_("i")}},

		{"first init", spec("Always", []string{"i", "j"}, []string{"a"}), seen(), nil, nil, Plan{SandboxID: "box", Start: init_("i")}},
		{"init runs", spec("Always", []string{"i", "j"}, []string{"a"}), seen(running("i")), nil, nil, Plan{SandboxID: "box"}},
		{"init done", spec("Always", []string{"i", "j"}, []string{"a"}), seen(exited("i", 0)), nil, nil, Plan{SandboxID: "box", Start: init_("j")}},
		{"all inits done", spec("Always", []string{"i", "j"}, []string{"a"}), seen(exited("j", 0), exited("i", 0)), nil, nil, Plan{SandboxID: "box", Start: main_("a")}},
		{"earlier init was cleared away", spec("Always", []string{"i", "j"}, []string{"a"}), seen(exited("j", 0)), nil, nil, Plan{SandboxID: "box", Start: main_("a")}},
		{"init failed", spec("Always", []string{"i"}, []string{"a"}), seen(exited("i", 1)), nil, nil, Plan{SandboxID: "box", Start: init_("i")}},
		{"init failed, never", spec("Never", []string{"i"}, []string{"a"}), seen(exited("i", 1)), nil, nil, Plan{SandboxID: "box", KillPod: true}},

		{"sidecar runs", spec("Always", []string{"s!", "j"}, []string{"a"}), seen(running("s")), nil, nil, Plan{SandboxID: "box", Start: init_("j")}},
		{"last sidecar runs", spec("Always", []string{"s!"}, []string{"a"}), seen(running("s")), nil, nil, Plan{SandboxID: "box", Start: main_("a")}},
		{"sidecar ended under main", spec("Always", []string{"s!"}, []string{"a"}), seen(running("a"), exited("s", 0)), nil, nil, Plan{SandboxID: "box", Start: init_("s")}},
		{"sidecar ended, next is running", spec("Always", []string{"s!", "j"}, []string{"a"}), seen(running("j"), exited("s", 1)), nil, nil, Plan{SandboxID: "box", Start: init_("s")}},
		{"mains ended, sidecar must too", spec("Never", []string{"s!"}, []string{"a"}), seen(exited("a", 0), running("s")), nil, nil, Plan{SandboxID: "box", KillPod: true}},

		{"liveness failed", spec("Always", nil, []string{"a", "b"}), seen(running("a"), running("b")), map[string]Probes{"a": {Liveness: Failure}}, nil,
			Plan{SandboxID: "box", Stop: []Stop{{"a", "a", "Container a failed liveness probe, will be restarted", StopForLiveness, true}}}},
		{"startup failed, never", spec("Never", nil, []string{"a", "b"}), seen(running("a"), running("b")), map[string]Probes{"a": {Startup: Failure}}, nil,
			Plan{SandboxID: "box", Stop: []Stop{{"a", "a", "Container a failed startup probe", StopForStartup, false}}}},
		{"being stopped", spec("Always", nil, []string{"a"}), seen(running("a")), map[string]Probes{"a": {Liveness: Failure}}, map[string]bool{"a": true}, Plan{SandboxID: "box"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Compute(Input{
				Pod: test.pod, Observed: test.observed, Stopping: test.stopping,
				Probes: func(id string) Probes { return test.probes[id] },
			})
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestChangedImageReplacesTheContainer(t *testing.T) {
	t.Parallel()
	pod := spec("Never", nil, []string{"a"})
	pod.Spec.Containers[0].Image = "new"
	in := Input{Pod: pod, Observed: seen(running("a")), Probes: func(string) Probes { return Probes{} }}
	got := Compute(in)
	want := []Stop{{"a", "a", "Container a definition changed, will be restarted", StopForChange, true}}
	if !reflect.DeepEqual(got.Stop, want) {
		t.Errorf("stop = %+v", got.Stop)
	}
	// Once it has ended it is started again, although the pod's policy says never.
	in.Observed, in.Replacing = seen(exited("a", 143)), map[string]bool{"a": true}
	if got := Compute(in); !reflect.DeepEqual(got.Start, main_("a")) {
		t.Errorf("start = %+v", got.Start)
	}
}

func TestSidecarWaitsForItsStartupProbe(t *testing.T) {
	t.Parallel()
	pod := spec("Always", []string{"s!"}, []string{"a"})
	pod.Spec.InitContainers[0].StartupProbe = &v1.Probe{}
	for result, want := range map[ProbeResult][]Start{Unknown: nil, Success: main_("a")} {
		got := Compute(Input{Pod: pod, Observed: seen(running("s")), Probes: func(string) Probes { return Probes{Startup: result} }})
		if !reflect.DeepEqual(got.Start, want) {
			t.Errorf("startup %v: start = %+v, want %+v", result, got.Start, want)
		}
	}
}

func TestNeedsSandbox(t *testing.T) {
	t.Parallel()
	pod := spec("Always", nil, []string{"a"})
	box := runtime.Sandbox{ID: "b", Ready: true, Attempt: 2, NetworkReported: true, IPs: []string{"10.0.0.1"}}
	notReady, noAddress, host := box, box, box
	notReady.Ready, noAddress.IPs, host.HostNetwork = false, nil, true
	for _, test := range []struct {
		sandboxes []runtime.Sandbox
		want      SandboxChange
	}{
		{nil, SandboxChange{Needed: true, Reason: "no pod sandbox exists"}},
		{[]runtime.Sandbox{box}, SandboxChange{Attempt: 2, SandboxID: "b"}},
		{[]runtime.Sandbox{notReady}, SandboxChange{true, 3, "b", "pod sandbox is not ready"}},
		{[]runtime.Sandbox{box, box}, SandboxChange{true, 3, "b", "multiple pod sandboxes are ready and need to be reconciled"}},
		{[]runtime.Sandbox{noAddress}, SandboxChange{true, 3, "b", "pod sandbox has no IP address"}},
		{[]runtime.Sandbox{host}, SandboxChange{true, 3, "", "network namespace mode changed and sandbox needs to be recreated"}},
	} {
		if got := NeedsSandbox(pod, &runtime.Pod{Sandboxes: test.sandboxes}); got != test.want {
			t.Errorf("%+v: got %+v, want %+v", test.sandboxes, got, test.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	var b Backoff
	now := began
	if !b.Until(now).IsZero() {
		t.Error("the first repetition waits")
	}
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		b = b.Next(now, now)
		if got := b.Until(now).Sub(now); got != want*time.Second {
			t.Errorf("wait = %v, want %v", got, want*time.Second)
		}
		now = now.Add(want * time.Second)
	}
	quiet := now.Add(2*LastBackoff + time.Second)
	if !b.Until(quiet).IsZero() || b.Next(quiet, quiet).Delay() != FirstBackoff {
		t.Error("ten quiet minutes don't forget")
	}
}

func TestDeletedPodStartsNothing(t *testing.T) {
	t.Parallel()
	pod := spec("Always", nil, []string{"a"})
	pod.DeletionTimestamp = &metav1.Time{Time: began}
	if ShouldStart(pod, &pod.Spec.Containers[0], seen()) {
		t.Error("a container of a deleted pod is to be started")
	}
}
