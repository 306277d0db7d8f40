package runtime

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestCPUValues(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int64][2]int64{0: {2, 0}, 1: {2, 1000}, 250: {256, 25000}, 1000: {1024, 100000}, 1 << 40: {262144, 1 << 40 * 100}} {
		if got := [2]int64{CPUShares(milli), CPUQuota(milli)}; got != want {
			t.Errorf("%dm: %v, want %v", milli, got, want)
		}
	}
}

func TestOOMScore(t *testing.T) {
	t.Parallel()
	const gigabyte = 1 << 30
	list := func(text string) v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse(text)}
	}
	critical := int32(2000001000)
	for _, test := range []struct {
		name      string
		resources v1.ResourceRequirements
		priority  *int32
		want      int64
	}{
		{"best effort", v1.ResourceRequirements{}, nil, 1000},
		{"guaranteed", v1.ResourceRequirements{Requests: list("1Gi"), Limits: list("1Gi")}, nil, -997},
		{"an eighth", v1.ResourceRequirements{Requests: list("1Gi")}, nil, 875},
		{"next to nothing", v1.ResourceRequirements{Requests: list("1Ki")}, nil, 999},
		{"everything", v1.ResourceRequirements{Requests: list("8Gi")}, nil, 3},
		{"critical", v1.ResourceRequirements{}, &critical, -997},
	} {
		pod := &v1.Pod{Spec: v1.PodSpec{Priority: test.priority, Containers: []v1.Container{{Resources: test.resources}}}}
		if got := OOMScore(pod, &pod.Spec.Containers[0], 8*gigabyte); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// What a container's annotations keep is what is read from them.
func TestAnnotationsRoundTrip(t *testing.T) {
	t.Parallel()
	grace := int64(7)
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u", DeletionGracePeriodSeconds: &grace}}
	container := &v1.Container{
		Name: "a", Image: "i", TerminationMessagePath: "/m", TerminationMessagePolicy: v1.TerminationMessageFallbackToLogsOnError,
		Lifecycle: &v1.Lifecycle{PreStop: &v1.LifecycleHandler{Sleep: &v1.SleepAction{Seconds: 3}}}, Ports: []v1.ContainerPort{{ContainerPort: 80}},
	}
	annotations, err := containerAnnotations(pod, container, 5)
	if err != nil {
		t.Fatal(err)
	}
	hash, restarts, saved := parseAnnotations(annotations)
	want := Saved{TerminationMessagePath: "/m", TerminationMessagePolicy: "FallbackToLogsOnError", DeletionGrace: &grace, PreStop: container.Lifecycle.PreStop, Ports: container.Ports}
	if hash != HashContainer(container) || restarts != 5 || !reflect.DeepEqual(saved, want) {
		t.Errorf("hash %x, restarts %d, saved %+v", hash, restarts, saved)
	}
	if hash, restarts, saved := parseAnnotations(map[string]string{annotationHash: "?", annotationPreStop: "{"}); hash != 0 || restarts != 0 || saved.PreStop != nil {
		t.Error("annotations of others are not ignored")
	}
}

func TestContainerSecurity(t *testing.T) {
	t.Parallel()
	one, two, root, yes, no := int64(1), int64(2), int64(0), true, false
	pod := &v1.Pod{Spec: v1.PodSpec{SecurityContext: &v1.PodSecurityContext{RunAsUser: &one, FSGroup: &two, SupplementalGroups: []int64{3}}}}
	container := &v1.Container{Name: "a", SecurityContext: &v1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &v1.Capabilities{Add: []v1.Capability{"NET_ADMIN"}, Drop: []v1.Capability{"ALL"}},
	}}
	got, err := containerSecurity(pod, container, ImageUser{UID: &root}, "/seccomp")
	if err != nil {
		t.Fatal(err)
	}
	if got.RunAsUser.Value != 1 || !got.NoNewPrivs || !got.ReadonlyRootfs || !reflect.DeepEqual(got.SupplementalGroups, []int64{2, 3}) ||
		!reflect.DeepEqual(got.Capabilities.DropCapabilities, []string{"ALL"}) || got.NamespaceOptions.Pid != runtimeapi.NamespaceMode_CONTAINER {
		t.Errorf("security = %v", got)
	}
	for name, test := range map[string]struct {
		own  v1.SecurityContext
		user ImageUser
	}{
		"container's runAsUser breaks non-root policy":                                                    {v1.SecurityContext{RunAsNonRoot: &yes, RunAsUser: &root}, ImageUser{}},
		"container has runAsNonRoot and image will run as root":                                           {v1.SecurityContext{RunAsNonRoot: &yes}, ImageUser{UID: &root}},
		"container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root": {v1.SecurityContext{RunAsNonRoot: &yes}, ImageUser{Name: "www"}},
	} {
		_, err := containerSecurity(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u"}}, &v1.Container{Name: "a", SecurityContext: &test.own}, test.user, "")
		if want := name + ` (pod: "p_n(u)", container: a)`; err == nil || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}

func TestSysctls(t *testing.T) {
	t.Parallel()
	pod := &v1.Pod{Spec: v1.PodSpec{SecurityContext: &v1.PodSecurityContext{Sysctls: []v1.Sysctl{
		{Name: "kernel.shm_rmid_forced", Value: "1"}, {Name: "net/ipv4/conf/eth0.1/forwarding", Value: "0"},
	}}}}
	want := map[string]string{"kernel.shm_rmid_forced": "1", "net.ipv4.conf.eth0/1.forwarding": "0"}
	if got := sysctls(pod); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRestartCountFromLogs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if got, err := RestartCountFromLogs(filepath.Join(folder, "none")); err != nil || got != 0 {
		t.Errorf("%d, %v", got, err)
	}
	for _, name := range []string{"0.log", "2.log.20260101-000000.gz", "x.log", "1.log"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := RestartCountFromLogs(folder); err != nil || got != 3 {
		t.Errorf("%d, %v", got, err)
	}
}

func TestTerminationMessage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	message, empty, log := filepath.Join(folder, "m"), filepath.Join(folder, "e"), filepath.Join(folder, "l")
	for path, text := range map[string]string{message: "said", empty: "", log: "2026-01-01T00:00:00Z stdout F one\n2026-01-01T00:00:01Z stderr P tw\n2026-01-01T00:00:02Z stderr F o\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, file, runtime string
		policy              v1.TerminationMessagePolicy
		code                int32
		want                string
	}{
		{"file", message, "", v1.TerminationMessageReadFile, 1, "said"},
		{"file and runtime", message, "killed", v1.TerminationMessageReadFile, 1, "killed: said"},
		{"empty", empty, "", v1.TerminationMessageReadFile, 1, ""},
		{"empty, falls back", empty, "", v1.TerminationMessageFallbackToLogsOnError, 1, "one\ntwo\n"},
		{"falls back on error only", empty, "", v1.TerminationMessageFallbackToLogsOnError, 0, ""},
		{"file comes first", message, "", v1.TerminationMessageFallbackToLogsOnError, 1, "said"},
	} {
		s := &runtimeapi.ContainerStatus{ExitCode: test.code, Message: test.runtime, LogPath: log, Mounts: []*runtimeapi.Mount{{ContainerPath: "/t", HostPath: test.file}}}
		if got := terminationMessage(s, Saved{TerminationMessagePath: "/t", TerminationMessagePolicy: test.policy}); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
