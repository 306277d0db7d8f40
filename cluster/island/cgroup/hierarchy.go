package cgroup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Root is where the hierarchies are mounted, on every distribution.
const Root = "/sys/fs/cgroup"

// Hierarchy is one mounted tree of control groups.
type Hierarchy struct {
	// Path is the mount point.
	Path string
	// Options are the mount options that select the hierarchy: "cpu,cpuacct", "none,name=systemd". Empty for v2.
	Options string
}

// Unified tells whether this is the version 2 tree.
func (h Hierarchy) Unified() bool { return h.Options == "" }

// Mounted finds the hierarchies that this process sees.
func Mounted() ([]Hierarchy, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("look for cgroups: %w", err)
	}
	defer file.Close()
	found, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("look for cgroups: %w", err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no cgroup hierarchy is mounted below %s", Root)
	}
	return found, nil
}

// parse picks the hierarchies below Root out of a mountinfo file (proc(5)):
//
//	36 35 0:31 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
//	(0)(1)(2) (3)(4)                (5)         (…)      - type  source options
//
// A path mounted twice counts once, as what was mounted last.
func parse(mountinfo io.Reader) ([]Hierarchy, error) {
	var found []Hierarchy
	place := map[string]int{}
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		left, right, ok := strings.Cut(lines.Text(), " - ")
		mount, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(mount) < 5 || len(kind) < 3 {
			continue
		}
		path := mount[4]
		if path != Root && filepath.Dir(path) != Root {
			continue
		}
		var hierarchy Hierarchy
		switch kind[0] {
		case "cgroup":
			hierarchy = Hierarchy{Path: path, Options: selecting(kind[2])}
		case "cgroup2":
			hierarchy = Hierarchy{Path: path}
		default:
			continue
		}
		if at, again := place[path]; again {
			found[at] = hierarchy
			continue
		}
		place[path] = len(found)
		found = append(found, hierarchy)
	}
	return found, lines.Err()
}

// selecting leaves of a superblock's options those that name the hierarchy: "rw,xattr,name=systemd" is mounted
// again by "none,name=systemd".
func selecting(options string) string {
	var kept []string
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case strings.HasPrefix(option, "name="):
			kept = append(kept, "none", option)
		case option == "rw", option == "ro", option == "xattr", option == "clone_children", option == "noprefix",
			option == "favordynmods", strings.HasPrefix(option, "release_agent="):
		default:
			kept = append(kept, option)
		}
	}
	return strings.Join(kept, ",")
}
