package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// mountPoint is where control groups are mounted on every system.
const mountPoint = "/sys/fs/cgroup"

// leastShares is the weight of best-effort pods: what the others leave.
const leastShares = 2

// Groups are the control groups of one kubelet.
type Groups struct {
	top  string // what New was given, with a slash in front
	root string // of all pods
	// hierarchies are the mount points of v1's controllers; one entry on v2.
	hierarchies []string
	// all are these and, on a hybrid system, the tree of v2, in which runtimes make groups too.
	all     []string
	unified bool

	mu        sync.Mutex
	burstable map[types.UID]int64 // shares by pod
}

// New returns Groups below the root, a path in the hierarchy such as /kogge/node-1.
func New(root string) (*Groups, error) {
	g := &Groups{top: path.Join("/", root), root: path.Join("/", root, "kubepods"), burstable: map[types.UID]int64{}}
	var stat unix.Statfs_t
	if err := unix.Statfs(mountPoint, &stat); err != nil {
		return nil, fmt.Errorf("control groups: %w", err)
	}
	if g.unified = stat.Type == unix.CGROUP2_SUPER_MAGIC; g.unified {
		g.hierarchies, g.all = []string{mountPoint}, []string{mountPoint}
		return g, nil
	}
	entries, err := os.ReadDir(mountPoint)
	if err != nil {
		return nil, fmt.Errorf("control groups: %w", err)
	}
	for _, entry := range entries {
		full := filepath.Join(mountPoint, entry.Name())
		if !entry.IsDir() || unix.Statfs(full, &stat) != nil {
			continue
		}
		switch stat.Type {
		case unix.CGROUP_SUPER_MAGIC:
			g.hierarchies, g.all = append(g.hierarchies, full), append(g.all, full)
		case unix.CGROUP2_SUPER_MAGIC:
			g.all = append(g.all, full)
		}
	}
	if len(g.hierarchies) == 0 {
		return nil, fmt.Errorf("control groups: nothing is mounted below %s", mountPoint)
	}
	return g, nil
}

// Parent is the pod's group as the runtime is told it.
func (g *Groups) Parent(pod *v1.Pod) string {
	name := "pod" + string(pod.UID)
	switch podspec.QOS(pod) {
	case v1.PodQOSBestEffort:
		return path.Join(g.root, "besteffort", name)
	case v1.PodQOSBurstable:
		return path.Join(g.root, "burstable", name)
	default:
		return path.Join(g.root, name)
	}
}

// Ensure makes the pod's group, and those above it, with their values.
func (g *Groups) Ensure(pod *v1.Pod) error {
	values := PodValues(pod)
	if err := g.ensure(path.Join(g.root, "besteffort"), Values{Shares: leastShares}); err != nil {
		return err
	}
	burstable := int64(0)
	if podspec.QOS(pod) == v1.PodQOSBurstable {
		burstable = values.Shares
	}
	if err := g.ensure(path.Join(g.root, "burstable"), Values{Shares: g.burstableShares(pod.UID, burstable)}); err != nil {
		return err
	}
	return g.ensure(g.Parent(pod), values)
}

// burstableShares notes a pod's part, and returns the sum.
func (g *Groups) burstableShares(uid types.UID, shares int64) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if shares > 0 {
		g.burstable[uid] = shares
	} else {
		delete(g.burstable, uid)
	}
	sum := int64(0)
	for _, shares := range g.burstable {
		sum += shares
	}
	return max(sum, leastShares)
}

func (g *Groups) ensure(group string, values Values) error {
	for _, hierarchy := range g.hierarchies {
		folder := filepath.Join(hierarchy, group)
		if g.unified {
			if err := switchOn(hierarchy, group); err != nil {
				return err
			}
		} else if err := makeV1(hierarchy, group); err != nil {
			return err
		}
		if err := g.write(folder, values); err != nil {
			return fmt.Errorf("control group %s: %w", group, err)
		}
	}
	return nil
}

// write sets the values that the folder has files for: on v1 each hierarchy has its own.
func (g *Groups) write(folder string, values Values) error {
	settings := map[string]string{
		"cpu.shares": strconv.FormatInt(values.Shares, 10), "cpu.cfs_quota_us": limit(values.Quota, "-1"),
		"memory.limit_in_bytes": limit(values.Memory, "-1"),
	}
	if g.unified {
		settings = map[string]string{
			"cpu.weight": strconv.FormatInt(weight(values.Shares), 10),
			"cpu.max":    limit(values.Quota, "max") + " " + strconv.Itoa(period),
			"memory.max": limit(values.Memory, "max"),
		}
	}
	for name, value := range settings {
		file := filepath.Join(folder, name)
		current, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(current)) == value {
			continue
		}
		if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func limit(value int64, none string) string {
	if value == 0 {
		return none
	}
	return strconv.FormatInt(value, 10)
}

// makeV1 makes the folder and those above it. A new cpuset is empty, and a process can't enter it before it is told
// which CPUs and memory it has: those of the group above.
func makeV1(hierarchy, group string) error {
	folder := hierarchy
	for _, part := range strings.Split(strings.Trim(group, "/"), "/") {
		above := folder
		folder = filepath.Join(folder, part)
		if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("control group %s: %w", group, err)
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if err := inherit(above, folder, file); err != nil {
				return fmt.Errorf("control group %s: %w", group, err)
			}
		}
	}
	return nil
}

func inherit(above, folder, file string) error {
	current, err := os.ReadFile(filepath.Join(folder, file))
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(current)) != "" {
		return nil
	}
	if err != nil {
		return err
	}
	value, err := os.ReadFile(filepath.Join(above, file))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, file), value, 0o644)
}

// switchOn makes the folder and those above it on v2, each with all controllers that the one above has.
func switchOn(hierarchy, group string) error {
	folder := hierarchy
	for _, part := range strings.Split(strings.Trim(group, "/"), "/") {
		controllers, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
		if err != nil {
			return fmt.Errorf("control group %s: %w", group, err)
		}
		for _, controller := range strings.Fields(string(controllers)) {
			// One by one: some can't be switched on, where processes of another kind run.
			err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
			if err != nil && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("control group %s: %w", group, err)
			}
		}
		folder = filepath.Join(folder, part)
		if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("control group %s: %w", group, err)
		}
	}
	return nil
}
