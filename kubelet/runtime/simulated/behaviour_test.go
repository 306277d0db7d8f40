package simulated

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func containerNamed(name string) *runtimeapi.ContainerConfig {
	return &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: name},
		Envs:     []*runtimeapi.KeyValue{{Key: "A", Value: []byte("1")}, {Key: "B", Value: []byte("2")}},
	}
}

func TestAnnotationsDecide(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration) *time.Duration { return &d }
	for _, c := range []struct {
		name string
		set  map[string]string
		want Behaviour
	}{
		{"nothing", nil, Behaviour{}},
		{"ends", map[string]string{AnnotationExitAfter: "2s", AnnotationExitCode: "3"}, Behaviour{ExitAfter: after(2 * time.Second), ExitCode: 3}},
		{"crashes", map[string]string{AnnotationCrashLoop: "true"}, Behaviour{ExitAfter: after(time.Second), ExitCode: 1}},
		{"crashes after", map[string]string{AnnotationCrashLoop: "5s"}, Behaviour{ExitAfter: after(5 * time.Second), ExitCode: 1}},
		{"is killed", map[string]string{AnnotationOOMAfter: "1m"}, Behaviour{ExitAfter: after(time.Minute), ExitCode: 137, Reason: "OOMKilled"}},
		{"slow", map[string]string{AnnotationStartDelay: "1s", AnnotationReadyAfter: "3s"}, Behaviour{StartDelay: time.Second, ReadyAfter: 3 * time.Second}},
		{"usage", map[string]string{AnnotationUsageCPU: "250m", AnnotationUsageMemory: "64Mi"}, Behaviour{CPU: 250_000_000, Memory: 64 << 20}},
		{"words", map[string]string{AnnotationLog: "x", AnnotationMessage: "y"}, Behaviour{Log: "x", Message: "y"}},
		{"own before the pod's", map[string]string{AnnotationExitAfter: "2s", AnnotationExitAfter + ".main": "7s", AnnotationExitAfter + ".other": "9s"}, Behaviour{ExitAfter: after(7 * time.Second)}},
		{"nonsense is nothing", map[string]string{AnnotationExitAfter: "soon", AnnotationStartDelay: "-1s", AnnotationUsageCPU: "much", AnnotationExitCode: "x"}, Behaviour{}},
		{"no such code", map[string]string{AnnotationExitCode: "256"}, Behaviour{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(c.set, containerNamed("main")); !cmp.Equal(got, c.want) {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}

func TestRulesSayWhatPodsDoNot(t *testing.T) {
	t.Parallel()
	web, err := labels.Parse("app=web")
	if err != nil {
		t.Fatal(err)
	}
	rules := []Rule{
		{Selector: web, Annotations: map[string]string{AnnotationStartDelay: "1s"}},
		{Namespace: "n", Annotations: map[string]string{AnnotationStartDelay: "2s", AnnotationLog: "n"}},
	}
	for _, c := range []struct {
		name, namespace   string
		labels, own, want map[string]string
	}{
		{"none matches", "o", nil, map[string]string{"a": "b"}, map[string]string{"a": "b"}},
		{"by labels", "o", map[string]string{"app": "web"}, nil, map[string]string{AnnotationStartDelay: "1s"}},
		{"the first wins", "n", map[string]string{"app": "web"}, nil, map[string]string{AnnotationStartDelay: "1s", AnnotationLog: "n"}},
		{"the pod's own wins", "n", nil, map[string]string{AnnotationLog: "own"}, map[string]string{AnnotationStartDelay: "2s", AnnotationLog: "own"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pod := &runtimeapi.PodSandboxConfig{Metadata: &runtimeapi.PodSandboxMetadata{Namespace: c.namespace}, Labels: c.labels, Annotations: c.own}
			if got := annotations(rules, pod); !cmp.Equal(got, c.want) {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}

func TestCommandsInAContainer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		args           []string
		set            map[string]string
		stdout, stderr string
		code           int32
	}{
		{"unknown", []string{"/bin/serve", "--now"}, nil, "", "", 0},
		{"false", []string{"false"}, nil, "", "", 1},
		{"echo", []string{"/bin/echo", "a", "b"}, nil, "a b\n", "", 0},
		{"hostname", []string{"hostname"}, nil, "host\n", "", 0},
		{"env", []string{"env"}, nil, "A=1\nB=2\n", "", 0},
		{"one variable", []string{"printenv", "B"}, nil, "2\n", "", 0},
		{"no such variable", []string{"printenv", "C"}, nil, "", "", 1},
		{"stdin", []string{"cat"}, nil, "in", "", 0},
		{"the file", []string{"cat", "/etc/hostname"}, nil, "host\n", "", 0},
		{"another file", []string{"cat", "/x"}, nil, "", "cat: there are no files in a simulated container\n", 1},
		{"annotated", []string{"echo", "a"}, map[string]string{AnnotationExecOutput: "own", AnnotationExecCode: "4"}, "own", "", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pod := &runtimeapi.PodSandboxConfig{Hostname: "host", Annotations: c.set}
			b := Options{}.annotated(pod, containerNamed("main"))
			var stdout, stderr bytes.Buffer
			code := b.run(Command{Args: c.args, Stdin: bytes.NewBufferString("in"), Stdout: &stdout, Stderr: &stderr})
			if code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("code %d, %q, %q", code, stdout.String(), stderr.String())
			}
		})
	}
}
