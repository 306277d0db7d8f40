package firstminutes_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// host is what a cluster could leave on the machine: what bears its name or its directory, and what it may not touch.
type host struct {
	Mounts, ControlGroups, Processes, Files []string
	Firewall, Routes, Forwarding            string
	Links                                   []string
}

func lookAt(t *testing.T, cluster, scratch string) host {
	t.Helper()
	return host{
		Mounts:        mountsWith(t, cluster, scratch),
		ControlGroups: controlGroupsWith(t, cluster),
		Processes:     processesWith(t, cluster, scratch),
		Files:         filesWith(t, cluster, scratch),
		Firewall:      firewall(t),
		Routes:        read(t, "/proc/net/route"),
		Forwarding:    read(t, "/proc/sys/net/ipv4/ip_forward"),
		Links:         names(t, "/sys/class/net"),
	}
}

func mountsWith(t *testing.T, texts ...string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(read(t, "/proc/self/mountinfo")) {
		if mentions(line, texts) {
			found = append(found, line)
		}
	}
	return found
}

func controlGroupsWith(t *testing.T, cluster string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.Contains(entry.Name(), cluster) {
			found = append(found, path)
		}
		return nil // groups of others come and go meanwhile
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// processesWith finds processes whose command line or control group has one of the texts, or which have a mount that
// does: what runs in a container knows nothing of its cluster.
func processesWith(t *testing.T, texts ...string) []string {
	t.Helper()
	var found []string
	for _, process := range names(t, "/proc") {
		if number, err := strconv.Atoi(process); err != nil || number == os.Getpid() {
			continue
		}
		command, err := os.ReadFile(filepath.Join("/proc", process, "cmdline"))
		if err != nil || len(command) == 0 {
			continue // the kernel's, or it has ended and waits for its parent
		}
		about := string(command)
		for _, file := range []string{"cgroup", "mountinfo"} {
			if content, err := os.ReadFile(filepath.Join("/proc", process, file)); err == nil {
				about += string(content)
			}
		}
		if mentions(about, texts) {
			found = append(found, process+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// filesWith are those that a cluster keeps, and those in the machine's usual places that bear its name.
func filesWith(t *testing.T, cluster, scratch string) []string {
	t.Helper()
	var found []string
	for _, name := range []string{"clusters", "kubeconfig"} {
		if _, err := os.Lstat(filepath.Join(scratch, name)); err == nil {
			found = append(found, name)
		}
	}
	for _, directory := range []string{"/etc", "/run", "/run/netns", "/var/lib", "/var/log", "/var/run", "/tmp"} {
		if _, err := os.Stat(directory); err != nil {
			continue
		}
		for _, name := range names(t, directory) {
			if strings.Contains(name, cluster) {
				found = append(found, filepath.Join(directory, name))
			}
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

func mentions(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(one string) bool { return strings.Contains(text, one) })
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func names(t *testing.T, directory string) []string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}
