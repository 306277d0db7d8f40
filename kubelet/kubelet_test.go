package kubelet_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/internal/testapi"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

const nodeName = "node-1"

// simulatedOptions are those of a node that runs nothing.
func simulatedOptions(t *testing.T, api *testapi.Server, runtime *simulated.Runtime) kubelet.Options {
	t.Helper()
	return kubelet.Options{
		NodeName: nodeName, Config: api.Config(), Runtime: runtime, Images: runtime.Images(),
		NodeIP: netip.MustParseAddr("192.0.2.1"),
		Capacity: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("2"), v1.ResourceMemory: resource.MustParse("4Gi"),
			v1.ResourceEphemeralStorage: resource.MustParse("10Gi"),
		},
	}
}

func newRuntime(t *testing.T) *simulated.Runtime {
	t.Helper()
	runtime, err := simulated.New(simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return runtime
}

// start runs a kubelet until the test ends, or until the returned function is called.
func start(t *testing.T, options kubelet.Options) (stop func()) {
	t.Helper()
	k, err := kubelet.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, k)
}

func run(t *testing.T, k *kubelet.Kubelet) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func pod(name string, containers ...v1.Container) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.PodSpec{NodeName: nodeName, Containers: containers},
	}
}

func container(name string) v1.Container {
	return v1.Container{Name: name, Image: "registry.test/" + name + ":1"}
}

func condition(p *v1.Pod, kind v1.PodConditionType) *v1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func isReady(p *v1.Pod) bool {
	c := condition0(p, v1.PodReady)
	return c != nil && c.Status == v1.ConditionTrue
}

func condition0(p *v1.Pod, kind v1.PodConditionType) *v1.PodCondition {
	if p == nil {
		return nil
	}
	return condition(p, kind)
}

func waiting(p *v1.Pod) string {
	if p == nil || len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Waiting == nil {
		return ""
	}
	return p.Status.ContainerStatuses[0].State.Waiting.Reason
}

func isGone(p *v1.Pod) bool { return p == nil }

func TestPodBecomesReadyAndIsDeletedGracefully(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	start(t, simulatedOptions(t, api, newRuntime(t)))
	api.Create(t.Context(), pod("web", container("a"), container("b")))
	p := api.EventuallyPod(t.Context(), "default", "web", isReady)
	if p.Status.Phase != v1.PodRunning || p.Status.PodIP == "" || p.Status.HostIP != "192.0.2.1" || p.Status.ObservedGeneration != 1 || p.Status.StartTime == nil {
		t.Errorf("status = %+v", p.Status)
	}
	for _, kind := range []v1.PodConditionType{v1.PodReadyToStartContainers, v1.PodInitialized, v1.ContainersReady, v1.PodScheduled} {
		if c := condition(p, kind); c == nil || c.Status != v1.ConditionTrue {
			t.Errorf("condition %s = %+v", kind, c)
		}
	}
	if err := api.Client().CoreV1().Pods("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	api.EventuallyPod(t.Context(), "default", "web", isGone)
	for _, event := range []string{"web Pulling: Pulling image", "web Created: Container created", "web Started: Container started", "web Killing: Stopping container a"} {
		if !api.Eventually(t.Context(), func() bool { return strings.Contains(api.Events(), event) }) {
			t.Errorf("no event %q in:\n%s", event, api.Events())
		}
	}
}

func TestNodeIsRegisteredAndReady(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	start(t, simulatedOptions(t, api, newRuntime(t)))
	var node *v1.Node
	ok := api.Eventually(t.Context(), func() bool {
		var err error
		node, err = api.Client().CoreV1().Nodes().Get(t.Context(), nodeName, metav1.GetOptions{})
		if err != nil {
			return false
		}
		for _, c := range node.Status.Conditions {
			if c.Type == v1.NodeReady && c.Status == v1.ConditionTrue {
				return true
			}
		}
		return false
	})
	if !ok {
		t.Fatalf("node never became ready: %+v", node)
	}
	if node.Labels[v1.LabelHostname] != nodeName || node.Status.Allocatable.Pods().Value() != 110 {
		t.Errorf("labels = %v, allocatable = %v", node.Labels, node.Status.Allocatable)
	}
	if !api.Eventually(t.Context(), func() bool {
		lease, err := api.Client().CoordinationV1().Leases(v1.NamespaceNodeLease).Get(t.Context(), nodeName, metav1.GetOptions{})
		return err == nil && *lease.Spec.HolderIdentity == nodeName && lease.OwnerReferences[0].Name == nodeName
	}) {
		t.Error("the lease was never made")
	}
}

func TestImageThatCannotBePulled(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	start(t, simulatedOptions(t, api, newRuntime(t)))
	c := container("a")
	c.Image = "registry.test/missing:404"
	api.Create(t.Context(), pod("bad", c))
	api.EventuallyPod(t.Context(), "default", "bad", func(p *v1.Pod) bool { return waiting(p) == "ErrImagePull" })
	p := api.EventuallyPod(t.Context(), "default", "bad", func(p *v1.Pod) bool { return waiting(p) == "ImagePullBackOff" })
	if p.Status.Phase != v1.PodPending {
		t.Errorf("phase = %s", p.Status.Phase)
	}
	never := container("b")
	never.ImagePullPolicy = v1.PullNever
	api.Create(t.Context(), pod("never", never))
	api.EventuallyPod(t.Context(), "default", "never", func(p *v1.Pod) bool { return waiting(p) == "ErrImageNeverPull" })
	invalid := container("c")
	invalid.Image = "Not/A Name"
	api.Create(t.Context(), pod("invalid", invalid))
	api.EventuallyPod(t.Context(), "default", "invalid", func(p *v1.Pod) bool { return waiting(p) == "InvalidImageName" })
}

func TestContainerThatCrashesBacksOff(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	start(t, simulatedOptions(t, api, newRuntime(t)))
	p := pod("crash", container("a"))
	p.Annotations = map[string]string{simulated.AnnotationExitAfter: "10ms", simulated.AnnotationExitCode: "3"}
	api.Create(t.Context(), p)
	got := api.EventuallyPod(t.Context(), "default", "crash", func(p *v1.Pod) bool { return waiting(p) == "CrashLoopBackOff" })
	s := got.Status.ContainerStatuses[0]
	if s.RestartCount != 1 || s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 3 {
		t.Errorf("status = %+v", s)
	}
	if want := "back-off 10s restarting failed container=a pod=crash_default("; !strings.HasPrefix(s.State.Waiting.Message, want) {
		t.Errorf("message = %q, want %q…", s.State.Waiting.Message, want)
	}
	if got.Status.Phase != v1.PodRunning {
		t.Errorf("phase = %s", got.Status.Phase)
	}
}

func TestPodRunsToItsEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code string
		phase      v1.PodPhase
	}{{"succeeds", "0", v1.PodSucceeded}, {"fails", "1", v1.PodFailed}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			api := testapi.New(t)
			start(t, simulatedOptions(t, api, newRuntime(t)))
			p := pod("job", container("main"))
			always := v1.ContainerRestartPolicyAlways
			sidecar, first := container("sidecar"), container("first")
			sidecar.RestartPolicy = &always
			p.Spec.InitContainers = []v1.Container{first, sidecar}
			p.Spec.RestartPolicy = v1.RestartPolicyNever
			runtime, err := simulated.New(simulated.Options{Behaviour: endsUnlessSidecar(test.code)})
			if err != nil {
				t.Fatal(err)
			}
			options := simulatedOptions(t, api, runtime)
			options.NodeName, p.Spec.NodeName = "node-2", "node-2"
			start(t, options)
			api.Create(t.Context(), p)
			got := api.EventuallyPod(t.Context(), "default", "job", func(p *v1.Pod) bool { return p != nil && p.Status.Phase == test.phase })
			if c := condition(got, v1.PodReady); c.Status != v1.ConditionFalse {
				t.Errorf("ready = %+v", c)
			}
			for _, s := range append(got.Status.ContainerStatuses, got.Status.InitContainerStatuses...) {
				if s.State.Terminated == nil {
					t.Errorf("container %s = %+v", s.Name, s.State)
				}
			}
		})
	}
}

func TestDeadlineEndsThePod(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	start(t, simulatedOptions(t, api, newRuntime(t)))
	p, second := pod("late", container("a")), int64(1)
	p.Spec.ActiveDeadlineSeconds = &second
	api.Create(t.Context(), p)
	got := api.EventuallyPod(t.Context(), "default", "late", func(p *v1.Pod) bool { return p != nil && p.Status.Phase == v1.PodFailed })
	if got.Status.Reason != "DeadlineExceeded" || got.Status.Message != "Pod was active on the node longer than the specified deadline" {
		t.Errorf("status = %+v", got.Status)
	}
}

func TestPodThatDoesNotFitIsRejected(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	start(t, simulatedOptions(t, api, newRuntime(t)))
	api.Create(t.Context(), pod("first", container("a")))
	api.EventuallyPod(t.Context(), "default", "first", isReady) // the node is known by now
	c := container("a")
	c.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("3")}
	api.Create(t.Context(), pod("huge", c))
	got := api.EventuallyPod(t.Context(), "default", "huge", func(p *v1.Pod) bool { return p != nil && p.Status.Phase == v1.PodFailed })
	want := "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000"
	if got.Status.Reason != "OutOfcpu" || got.Status.Message != want {
		t.Errorf("reason = %q, message = %q", got.Status.Reason, got.Status.Message)
	}
}

// A kubelet that is replaced finds the pods as they are, and ends those that were deleted meanwhile.
func TestRestartedKubeletFindsItsPods(t *testing.T) {
	t.Parallel()
	api, runtime := testapi.New(t), newRuntime(t)
	stop := start(t, simulatedOptions(t, api, runtime))
	for _, name := range []string{"stays", "goes"} {
		api.Create(t.Context(), pod(name, container("a")))
	}
	before := api.EventuallyPod(t.Context(), "default", "stays", isReady)
	api.EventuallyPod(t.Context(), "default", "goes", isReady)
	stop()
	now := int64(0)
	if err := api.Client().CoreV1().Pods("default").Delete(t.Context(), "goes", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	start(t, simulatedOptions(t, api, runtime))
	if !api.Eventually(t.Context(), func() bool { return runtime.Sandboxes() == 1 }) {
		t.Errorf("%d sandboxes are left", runtime.Sandboxes())
	}
	after := api.EventuallyPod(t.Context(), "default", "stays", isReady)
	if before.Status.ContainerStatuses[0].ContainerID != after.Status.ContainerStatuses[0].ContainerID {
		t.Error("the container was replaced")
	}
}

func endsUnlessSidecar(code string) func(*runtimeapi.PodSandboxConfig, *runtimeapi.ContainerConfig) simulated.Behaviour {
	return func(_ *runtimeapi.PodSandboxConfig, config *runtimeapi.ContainerConfig) simulated.Behaviour {
		soon, zero := 10*time.Millisecond, time.Duration(0)
		switch config.Metadata.Name {
		case "first":
			return simulated.Behaviour{ExitAfter: &zero}
		case "sidecar":
			return simulated.Behaviour{}
		default:
			return simulated.Behaviour{ExitAfter: &soon, ExitCode: int32(code[0] - '0')}
		}
	}
}
