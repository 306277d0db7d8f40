package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Group is a group of the same name in every hierarchy.
type Group struct {
	hierarchies []Hierarchy
	name        string
}

// New names the group whose path is made of the elements, below each hierarchy's root.
func New(hierarchies []Hierarchy, elements ...string) Group {
	return Group{hierarchies: hierarchies, name: filepath.Join(elements...)}
}

// Child is the group of this name below g.
func (g Group) Child(name string) Group {
	return Group{hierarchies: g.hierarchies, name: filepath.Join(g.name, name)}
}

// Create makes the group and those above it where they are missing, and hands them every controller.
func (g Group) Create() error {
	for _, hierarchy := range g.hierarchies {
		directory := hierarchy.Path
		for element := range strings.SplitSeq(g.name, "/") {
			parent := directory
			directory = filepath.Join(parent, element)
			if hierarchy.Unified() {
				if err := delegate(parent); err != nil {
					return err
				}
			}
			if err := hierarchy.make(parent, directory); err != nil {
				return err
			}
		}
	}
	return nil
}

// CreateLeaf makes a child of g, which exists, without handing it any controller yet: so it can be made while g
// still holds the processes that are to move there.
func (g Group) CreateLeaf(name string) (Group, error) {
	leaf := g.Child(name)
	for _, hierarchy := range g.hierarchies {
		parent := filepath.Join(hierarchy.Path, g.name)
		if err := hierarchy.make(parent, filepath.Join(parent, name)); err != nil {
			return Group{}, err
		}
	}
	return leaf, nil
}

func (h Hierarchy) make(parent, directory string) error {
	if err := os.Mkdir(directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make cgroup: %w", err)
	}
	if h.Unified() {
		return nil
	}
	return inherit(parent, directory)
}

// Delegate lets the groups below g use every controller that g has (v2; v1 needs nothing). g must hold no
// process itself: v2 allows processes in leaves only.
func (g Group) Delegate() error {
	for _, directory := range g.directories(Hierarchy.Unified) {
		if err := delegate(directory); err != nil {
			return err
		}
	}
	return nil
}

// delegate turns on, for the children of a v2 group, each controller that the group itself has. One write for
// each: a controller that refuses (cpu does while realtime tasks run) must not keep the others away.
func delegate(directory string) error {
	content, err := os.ReadFile(filepath.Join(directory, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read cgroup controllers: %w", err)
	}
	for _, controller := range strings.Fields(string(content)) {
		err := write(filepath.Join(directory, "cgroup.subtree_control"), "+"+controller)
		if errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("%s holds processes, so no cgroup below it can use controllers: %w", directory, err)
		}
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
	}
	return nil
}

// inherit fills what a fresh v1 cpuset lacks: nobody may join it before it has processors and memory nodes.
func inherit(parent, directory string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read cpuset: %w", err)
		}
		if err := write(filepath.Join(directory, file), string(value)); err != nil {
			return err
		}
	}
	return nil
}

// Join moves the calling process into the group.
func (g Group) Join() error {
	for _, directory := range g.directories(nil) {
		// "0" is whoever writes, in whatever process namespace.
		if err := write(filepath.Join(directory, "cgroup.procs"), "0"); err != nil {
			return fmt.Errorf("join cgroup: %w", err)
		}
	}
	return nil
}

// Processes are the numbers of all processes in the group and below it. One in several hierarchies comes once.
func (g Group) Processes() ([]int, error) {
	var found []int
	seen := map[int]bool{}
	err := g.walk(func(directory string) error {
		content, err := os.ReadFile(filepath.Join(directory, "cgroup.procs"))
		if gone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read cgroup: %w", err)
		}
		for field := range strings.FieldsSeq(string(content)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return fmt.Errorf("read cgroup: %w", err)
			}
			// 0 stands for a process outside of our process namespace.
			if pid != 0 && !seen[pid] {
				seen[pid] = true
				found = append(found, pid)
			}
		}
		return nil
	})
	return found, err
}

// Kill sends SIGKILL to every process in the group and below it.
func (g Group) Kill() error {
	pids, err := g.Processes()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("kill process %d: %w", pid, err)
		}
	}
	return nil
}

// retry is how long to wait before looking again at a group whose processes are ending. The kernel tells v1's
// listeners of an empty group by starting a program, which is worse.
const retry = 5 * time.Millisecond

// Remove takes the group and all below it away. Groups with dying processes are tried again until ctx is done.
func (g Group) Remove(ctx context.Context) error {
	ticker := time.NewTicker(retry)
	defer ticker.Stop()
	for {
		err := g.removeOnce()
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

func (g Group) removeOnce() error {
	var deepestLast []string
	if err := g.walk(func(directory string) error {
		deepestLast = append(deepestLast, directory)
		return nil
	}); err != nil {
		return err
	}
	for at := len(deepestLast) - 1; at >= 0; at-- {
		if err := unix.Rmdir(deepestLast[at]); err != nil && !gone(err) {
			return fmt.Errorf("remove cgroup %s: %w", deepestLast[at], err)
		}
	}
	return nil
}

// walk visits the group and all below it in every hierarchy, each before those below it.
func (g Group) walk(visit func(directory string) error) error {
	for _, top := range g.directories(nil) {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case gone(err):
				return nil
			case err != nil:
				return fmt.Errorf("look through cgroup: %w", err)
			case entry.IsDir():
				return visit(path)
			default:
				return nil
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// directories are the group's own in the hierarchies that match, or in all.
func (g Group) directories(match func(Hierarchy) bool) []string {
	var directories []string
	for _, hierarchy := range g.hierarchies {
		if match == nil || match(hierarchy) {
			directories = append(directories, filepath.Join(hierarchy.Path, g.name))
		}
	}
	return directories
}

// gone tells whether the error means that a group vanished: reading the files of one that is being removed
// gives ENODEV.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV)
}

func write(file, value string) error {
	handle, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write cgroup: %w", err)
	}
	_, err = handle.WriteString(value)
	return errors.Join(err, handle.Close())
}
