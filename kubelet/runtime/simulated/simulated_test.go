package simulated

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kogge-dev/kogge/kubelet/runtime"
)

func newRuntime(t *testing.T, options Options) *Runtime {
	t.Helper()
	r, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sandboxConfig(uid string, annotations map[string]string) *runtimeapi.PodSandboxConfig {
	return &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: uid, Namespace: "n", Uid: uid}, Annotations: annotations,
		Labels: map[string]string{kubelettypes.KubernetesPodUIDLabel: uid},
	}
}

// run makes a sandbox with one running container.
func run(t *testing.T, r *Runtime, uid string, annotations map[string]string) (sandboxID, containerID string) {
	t.Helper()
	config := sandboxConfig(uid, annotations)
	s, err := r.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Images().PullImage(t.Context(), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: "i:1"}}); err != nil {
		t.Fatal(err)
	}
	c, err := r.CreateContainer(t.Context(), &runtimeapi.CreateContainerRequest{PodSandboxId: s.PodSandboxId, SandboxConfig: config, Config: &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "c"}, Image: &runtimeapi.ImageSpec{Image: "i:1"}, Labels: config.Labels,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: c.ContainerId}); err != nil {
		t.Fatal(err)
	}
	return s.PodSandboxId, c.ContainerId
}

func statusOf(t *testing.T, r *Runtime, id string) *runtimeapi.ContainerStatus {
	t.Helper()
	response, err := r.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	return response.Status
}

func TestContainerEndsAsAnnotated(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakeClock(time.Unix(1000, 0))
	r := newRuntime(t, Options{Clock: clock})
	_, id := run(t, r, "a", map[string]string{AnnotationExitAfter: "5s", AnnotationExitCode: "3"})
	if got := statusOf(t, r, id).State; got != runtimeapi.ContainerState_CONTAINER_RUNNING {
		t.Errorf("state = %v", got)
	}
	ended, stop := r.Ended(id)
	defer stop()
	clock.Step(5 * time.Second)
	<-ended
	got := statusOf(t, r, id)
	if got.State != runtimeapi.ContainerState_CONTAINER_EXITED || got.ExitCode != 3 || got.Reason != "Error" || got.FinishedAt != time.Unix(1005, 0).UnixNano() {
		t.Errorf("status = %v", got)
	}
}

func TestSandboxTakesItsContainersAlong(t *testing.T) {
	t.Parallel()
	r := newRuntime(t, Options{})
	sandbox, id := run(t, r, "a", nil)
	if _, err := r.StopPodSandbox(t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: sandbox}); err != nil {
		t.Fatal(err)
	}
	if got := statusOf(t, r, id); got.ExitCode != exitKilled {
		t.Errorf("status = %v", got)
	}
	if _, err := r.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id}); status.Code(err) != codes.NotFound {
		t.Errorf("err = %v", err)
	}
	if len(r.pods) != 0 {
		t.Error("a pod is left in the index")
	}
}

func TestListsOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	r := newRuntime(t, Options{})
	run(t, r, "a", nil)
	run(t, r, "b", nil)
	for selector, want := range map[string]int{"a": 1, "c": 0, "": 2} {
		labels := map[string]string{kubelettypes.KubernetesPodUIDLabel: selector}
		if selector == "" {
			labels = nil
		}
		sandboxes, err := r.ListPodSandbox(t.Context(), &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{LabelSelector: labels}})
		if err != nil || len(sandboxes.Items) != want {
			t.Errorf("%q: %d sandboxes, %v", selector, len(sandboxes.Items), err)
		}
		containers, err := r.ListContainers(t.Context(), &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: labels}})
		if err != nil || len(containers.Containers) != want {
			t.Errorf("%q: %d containers, %v", selector, len(containers.Containers), err)
		}
	}
}

func TestEventsNameThePod(t *testing.T) {
	t.Parallel()
	r := newRuntime(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := r.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, r, "a", nil)
	for _, want := range []runtimeapi.ContainerEventType{
		runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT, // the sandbox
		runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT,
	} {
		event, err := stream.Recv()
		if err != nil || event.ContainerEventType != want || event.PodSandboxStatus.Metadata.Uid != "a" {
			t.Errorf("event = %v, err = %v, want %v", event, err, want)
		}
	}
	cancel()
	if _, err := stream.Recv(); err == nil {
		t.Error("the stream outlives its context")
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	a := newAllocator(netip.MustParsePrefix("10.0.0.0/29")) // .1 is the gateway's, .2 to .7 are free
	for i := 2; i <= 7; i++ {
		if got, ok := a.take(); !ok || got != netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) {
			t.Errorf("address %d = %v, %v", i, got, ok)
		}
	}
	if got, ok := a.take(); ok {
		t.Errorf("%v was given twice", got)
	}
	free := netip.MustParseAddr("10.0.0.4")
	a.free(free)
	if got, ok := a.take(); !ok || got != free {
		t.Errorf("address = %v, %v", got, ok)
	}
	a.free(free)
	if got, ok := a.take(); !ok || got != free {
		t.Errorf("the last address is not given again: %v, %v", got, ok)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	r := newRuntime(t, Options{})
	for _, image := range []string{"registry.test/web:404", "invalid.registry.k8s.io/a:1", "foo:non-existent"} {
		if _, err := r.Images().PullImage(t.Context(), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: image}}); status.Code(err) != codes.NotFound {
			t.Errorf("%s: %v", image, err)
		}
	}
	pulled, err := r.Images().PullImage(t.Context(), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: "host:5000/a:1"}})
	if err != nil || !strings.HasPrefix(pulled.ImageRef, "host:5000/a@sha256:") {
		t.Errorf("ref = %v, err = %v", pulled, err)
	}
	list, err := r.Images().ListImages(t.Context(), &runtimeapi.ListImagesRequest{})
	if err != nil || len(list.Images) != 1 || list.Images[0].RepoTags[0] != "host:5000/a:1" {
		t.Errorf("images = %v, err = %v", list, err)
	}
}

func TestExecStreams(t *testing.T) {
	t.Parallel()
	r := newRuntime(t, Options{Behaviour: func(*runtimeapi.PodSandboxConfig, *runtimeapi.ContainerConfig) Behaviour {
		return Behaviour{Exec: func(c Command) int32 {
			if _, err := io.Copy(c.Stdout, c.Stdin); err != nil {
				return 1
			}
			return int32(len(c.Args))
		}}
	}})
	_, id := run(t, r, "a", nil)
	response, err := r.Exec(t.Context(), &runtimeapi.ExecRequest{ContainerId: id, Cmd: []string{"x", "y"}, Stdin: true, Stdout: true})
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(response.Url)
	if err != nil {
		t.Fatal(err)
	}
	executor, err := remotecommand.NewSPDYExecutor(&rest.Config{}, http.MethodPost, target)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader("hello"), Stdout: &out})
	if code, ok := err.(utilexec.CodeExitError); !ok || code.Code != 2 || out.String() != "hello" {
		t.Errorf("out = %q, err = %v", out.String(), err)
	}
}

func TestInitContainersEnd(t *testing.T) {
	t.Parallel()
	b := decide(nil, &runtimeapi.ContainerConfig{Annotations: map[string]string{runtime.AnnotationMustEnd: "true"}})
	if b.ExitAfter == nil || *b.ExitAfter != 0 || b.ExitCode != 0 {
		t.Errorf("an init container behaves as %+v, want an end at once", b)
	}
	if b := decide(nil, &runtimeapi.ContainerConfig{}); b.ExitAfter != nil {
		t.Errorf("another container ends after %v", *b.ExitAfter)
	}
}
