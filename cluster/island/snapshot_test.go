package island

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
)

// hostState is what a cluster could leave on a machine, as far as it bears the cluster's directory or name; of the
// firewall, everything.
type hostState struct {
	Mounts, Cgroups, Processes []string
	// Firewall is the host's whole ruleset.
	Firewall string
	// Links are the network interfaces of the host's namespace.
	Links []string
}

func lookAtHost(t *testing.T, directory Directory, cluster string) hostState {
	t.Helper()
	return hostState{
		Mounts:    mountsBelow(t, string(directory)),
		Cgroups:   cgroupsOf(t, cluster),
		Processes: processesWith(t, string(directory)),
		Firewall:  firewall(t),
		Links:     links(t),
	}
}

func mountsBelow(t *testing.T, directory string) []string {
	t.Helper()
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, directory) {
			found = append(found, line)
		}
	}
	return found
}

func cgroupsOf(t *testing.T, cluster string) []string {
	t.Helper()
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, hierarchy := range hierarchies {
		path := filepath.Join(hierarchy.Path, cgroupName(cluster))
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// processesWith finds processes whose command line names the directory, or who sit in a mount namespace with a
// mount from there: a container's processes don't name it.
func processesWith(t *testing.T, directory string) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		command, err := os.ReadFile(filepath.Join(entry, "cmdline"))
		if errors.Is(err, os.ErrNotExist) || len(command) == 0 {
			continue
		}
		mounts, err := os.ReadFile(filepath.Join(entry, "mountinfo"))
		if err != nil {
			// It ended meanwhile, which is as good as not being there.
			continue
		}
		if filepath.Base(entry) == fmt.Sprint(os.Getpid()) {
			continue
		}
		if strings.Contains(string(command), directory) || strings.Contains(string(mounts), directory+"/nodes") {
			found = append(found, entry+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func firewall(t *testing.T) string {
	t.Helper()
	output, err := exec.Command("nft", "list", "ruleset").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(output)
}

func links(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/sys/class/net")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
