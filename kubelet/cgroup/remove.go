package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ErrBusy says that processes of a group were killed and are not gone yet: removing it will succeed in a moment.
var ErrBusy = errors.New("processes are still ending")

// Remove kills whatever is left in the pod's group and removes it with everything below, in whichever class it is:
// of a pod that only the runtime remembers, the class is not known.
func (g *Groups) Remove(pod *v1.Pod) error {
	g.burstableShares(pod.UID, 0)
	var failures []error
	for _, class := range []string{"", "burstable", "besteffort"} {
		for _, hierarchy := range g.all {
			folder := filepath.Join(hierarchy, g.root, class, "pod"+string(pod.UID))
			if err := removeTree(folder); err != nil {
				failures = append(failures, err)
			}
		}
	}
	return errors.Join(failures...)
}

// Pods lists the pods that have a group.
func (g *Groups) Pods() ([]types.UID, error) {
	seen := map[types.UID]bool{}
	for _, class := range []string{"", "burstable", "besteffort"} {
		for _, hierarchy := range g.all {
			entries, err := os.ReadDir(filepath.Join(hierarchy, g.root, class))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("list control groups: %w", err)
			}
			for _, entry := range entries {
				if uid, found := strings.CutPrefix(entry.Name(), "pod"); found && entry.IsDir() {
					seen[types.UID(uid)] = true
				}
			}
		}
	}
	var uids []types.UID
	for uid := range seen {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	return uids, nil
}

// RemoveAll kills what runs below the root that New was given, and removes it, the root too unless it is the
// hierarchy's own.
func (g *Groups) RemoveAll() error {
	top := g.top
	if top == "/" {
		top = g.root
	}
	var failures []error
	for _, hierarchy := range g.all {
		failures = append(failures, removeTree(path.Join(hierarchy, top)))
	}
	return errors.Join(failures...)
}

func removeTree(root string) error {
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove control group: %w", err)
	}
	slices.Reverse(folders) // the innermost first
	for _, folder := range folders {
		if err := killAll(folder); err != nil {
			return err
		}
		err := unix.Rmdir(folder)
		if errors.Is(err, unix.EBUSY) {
			err = ErrBusy
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("remove control group %s: %w", folder, err)
		}
	}
	return nil
}

// killAll kills the processes of a group. They are gone only some time later.
func killAll(folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("processes of control group: %w", err)
	}
	for _, field := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid <= 1 {
			continue // 0 is a process of another pid namespace, 1 is this one's own init
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("kill process %d: %w", pid, err)
		}
	}
	return nil
}
