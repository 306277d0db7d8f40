package nodeinit

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
)

var example = Config{
	Name: "dev-1", Address: netip.MustParsePrefix("172.31.0.2/16"), Gateway: netip.MustParseAddr("172.31.0.1"),
	ServiceRange: netip.MustParsePrefix("10.96.0.0/16"), PodRange: netip.MustParsePrefix("10.244.0.0/16"),
	Domain: "cluster.local", Directory: "/state/dev/nodes/dev-1", Binaries: "/src/bin",
}

// targets are the paths that a plan mounts on, with where each comes from.
func targets(plan []mount) map[string]string {
	found := map[string]string{}
	for _, planned := range plan {
		found[planned.target] = planned.kind + " " + planned.source
	}
	return found
}

func TestMountPlan(t *testing.T) {
	t.Parallel()
	plan := mountPlan(example, []cgroup.Hierarchy{{Path: cgroup.Root}})
	if plan[0].target != "/" || plan[0].kind != "overlay" {
		t.Errorf("the first mount is %+v, want the root", plan[0])
	}
	found := targets(plan)
	for target, want := range map[string]string{
		"/root": "tmpfs tmpfs", "/home": "tmpfs tmpfs", "/etc/cni": "tmpfs tmpfs", "/etc/containerd": "tmpfs tmpfs",
		"/run": "tmpfs tmpfs", "/tmp": "tmpfs tmpfs",
		"/etc/kubernetes":     " /state/dev/nodes/dev-1/kubernetes",
		"/var/lib/containerd": " /state/dev/nodes/dev-1/containerd",
		"/var/lib/kubelet":    " /state/dev/nodes/dev-1/kubelet",
		"/var/log":            " /state/dev/nodes/dev-1/log",
		"/opt/kogge/bin":      " /src/bin",
		"/sys/fs/cgroup":      "cgroup2 cgroup",
	} {
		if found[target] != want {
			t.Errorf("%s is %q, want %q", target, found[target], want)
		}
	}
	for _, planned := range plan {
		if planned.target == binaries && !planned.readOnly {
			t.Error("a node may write to the binaries of the host")
		}
	}
}

func TestHierarchiesOfVersion1GetADirectoryEach(t *testing.T) {
	t.Parallel()
	plan := cgroupMounts([]cgroup.Hierarchy{
		{Path: "/sys/fs/cgroup/cpu", Options: "cpu"},
		{Path: "/sys/fs/cgroup/systemd", Options: "none,name=systemd"},
		{Path: "/sys/fs/cgroup/unified"},
	})
	var got []string
	for _, planned := range plan {
		got = append(got, planned.target+" "+planned.kind+" "+planned.data)
	}
	want := []string{
		"/sys/fs/cgroup tmpfs mode=0755", "/sys/fs/cgroup/cpu cgroup cpu",
		"/sys/fs/cgroup/systemd cgroup none,name=systemd", "/sys/fs/cgroup/unified cgroup2 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status string
		want   bool
	}{
		{"Name:\tx\nCapEff:\t000001fffeffffff\nCapBnd:\t000001ffffffffff\n", false},
		{"Name:\tx\nCapEff:\t000001ffffffffff\n", true},
		{"Name:\tx\n", false},
	} {
		// 24 is CAP_SYS_RESOURCE.
		if got := hasCapability(test.status, 24); got != test.want {
			t.Errorf("%q: %v, want %v", test.status, got, test.want)
		}
	}
	if !strings.Contains(containerdSettings(true), "restrict_oom_score_adj = true") {
		t.Error("out-of-memory scores are not restricted")
	}
}

func TestOnlyTheRuntimeKnowsTheProxy(t *testing.T) {
	t.Parallel()
	config := example
	config.PullProxy = "http://pull:token@172.31.0.1:3128"
	want := []string{"HTTPS_PROXY=http://pull:token@172.31.0.1:3128", "NO_PROXY=172.31.0.1"}
	if diff := cmp.Diff(want, containerdService(config).environment); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	for _, other := range []service{containerdService(example), proxyService(config), kubeletService(config)} {
		if len(other.environment) > 0 {
			t.Errorf("%s has %v in its environment", other.name, other.environment)
		}
	}
}

func TestPauseAfter(t *testing.T) {
	t.Parallel()
	pause := time.Duration(0)
	for _, want := range []time.Duration{shortestPause, 2 * shortestPause, 4 * shortestPause} {
		if pause = pauseAfter(time.Millisecond, pause); pause != want {
			t.Errorf("pause %s, want %s", pause, want)
		}
	}
	if got := pauseAfter(steady, longestPause); got != 0 {
		t.Errorf("after a steady run: pause %s", got)
	}
}

func TestIdentityLastsAndDiffers(t *testing.T) {
	t.Parallel()
	other := example
	other.Name = "dev-2"
	if machineID(example) != machineID(example) || machineID(example) == machineID(other) || len(machineID(example)) != 32 {
		t.Errorf("machine identifiers %q, %q", machineID(example), machineID(other))
	}
}

func TestLogsAreSetAside(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "containerd.log")
	if err := os.WriteFile(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, largestLog+1); err != nil {
		t.Fatal(err)
	}
	output, err := OpenLog(file)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	about, err := output.Stat()
	if err != nil || about.Size() != 0 {
		t.Errorf("the log holds %d bytes, %v", about.Size(), err)
	}
	if _, err := os.Stat(file + ".1"); err != nil {
		t.Errorf("the old log is gone: %v", err)
	}
}

// Not parallel: a reaper takes the statuses of all children of the process, those of other tests too.
func TestReaperTellsEachChildsEnd(t *testing.T) {
	program, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	children := newReaper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		children.run(ctx)
	}()
	for _, code := range []string{"0", "3", "7"} {
		_, status, err := children.start(func() (int, error) {
			return syscall.ForkExec(program, []string{"sh", "-c", "exit " + code}, &syscall.ProcAttr{})
		})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-status:
			if describe(got, nil) != "exit code "+code {
				t.Errorf("%s, want exit code %s", describe(got, nil), code)
			}
		case <-ctx.Done():
			t.Fatal("the child's status never came")
		}
	}
	cancel()
	<-ended
}
