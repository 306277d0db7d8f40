package cgroup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, mountinfo string
		want            []Hierarchy
	}{
		{
			name: "version 2",
			mountinfo: `24 29 0:22 / /sys rw shared:7 - sysfs sysfs rw
30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`,
			want: []Hierarchy{{Path: "/sys/fs/cgroup"}},
		},
		{
			name: "hybrid, with mounts elsewhere and one mounted over another",
			mountinfo: `31 24 0:27 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
32 31 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
33 31 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/lib/agent,name=systemd
34 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:30 / /mnt/elsewhere/cpu rw - cgroup cgroup rw,cpu,cpuacct
36 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,pids
37 31 0:32 /docker/x /sys/fs/cgroup/memory rw master:3 - cgroup cgroup rw,memory
`,
			want: []Hierarchy{
				{Path: "/sys/fs/cgroup/unified"},
				{Path: "/sys/fs/cgroup/systemd", Options: "none,name=systemd"},
				{Path: "/sys/fs/cgroup/cpu,cpuacct", Options: "cpu,cpuacct"},
				{Path: "/sys/fs/cgroup/memory", Options: "memory"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(strings.NewReader(test.mountinfo))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("hierarchies (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLifeOfAGroup(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Fatal("cgroups need root: run the tests as root")
	}
	hierarchies, err := Mounted()
	if err != nil {
		t.Fatal(err)
	}
	top := New(hierarchies, fmt.Sprintf("kogge-test-%d", os.Getpid()))
	group := top.Child("node").Child("leaf")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Cleanup(func() {
		if err := top.Remove(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the second time it is there already
		if err := group.Create(); err != nil {
			t.Fatal(err)
		}
	}
	// A shell joins as node-init does, and stays until it is killed.
	script := `for file; do echo 0 > "$file/cgroup.procs" || exit 1; done; echo joined; exec sleep infinity`
	command := exec.Command("sh", append([]string{"-c", script, "sh"}, group.directories(nil)...)...)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the shell did not join: %v", err)
	}
	pids, err := top.Processes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{command.Process.Pid}, pids); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	if err := top.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err == nil {
		t.Error("the shell ended well, though it was to be killed")
	}
	if err := top.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	for _, directory := range top.directories(nil) {
		if _, err := os.Stat(directory); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", directory, err)
		}
	}
}
