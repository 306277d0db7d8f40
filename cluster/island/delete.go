package island

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
	"github.com/kogge-dev/kogge/cluster/island/process"
	"github.com/kogge-dev/kogge/internal/netns"
)

// removalTimeout is how long what was killed may take to vanish.
const removalTimeout = 30 * time.Second

// Delete ends everything that belongs to the cluster and removes all that it left on this machine. It needs
// nothing but the directory, whatever state it is in; one that isn't there is no error.
func Delete(ctx context.Context, directory Directory) error {
	if !directory.Exists() {
		return nil
	}
	if err := directory.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, removalTimeout)
	defer cancel()
	// The supervisor first, or it would restart the others.
	if err := killRecorded(ctx, directory, supervisorName); err != nil {
		return err
	}
	names, err := recorded(directory)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := killRecorded(ctx, directory, name); err != nil {
			return err
		}
	}
	if err := removeCgroups(ctx, directory); err != nil {
		return err
	}
	if err := netns.Remove(directory.namespaceFile()); err != nil {
		return err
	}
	if err := removeDirectory(ctx, directory); err != nil {
		return err
	}
	return removeEmptyHome(directory)
}

// removeEmptyHome removes the directory of all clusters after the last of them.
func removeEmptyHome(directory Directory) error {
	home, err := Home()
	if err != nil || filepath.Dir(string(directory)) != home {
		return err
	}
	err = os.Remove(home)
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recorded names the units that have a process record.
func recorded(directory Directory) ([]string, error) {
	entries, err := os.ReadDir(directory.path("run"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for process records: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name, found := strings.CutSuffix(entry.Name(), ".json"); found {
			names = append(names, name)
		}
	}
	return names, nil
}

func killRecorded(ctx context.Context, directory Directory, name string) error {
	record, err := process.Load(directory.recordFile(name))
	if err != nil {
		return err
	}
	held, err := record.Open()
	if err != nil || held == nil {
		return err
	}
	err = held.Signal(unix.SIGKILL)
	if err == nil {
		err = held.Wait(ctx)
	}
	return errors.Join(err, held.Close())
}

// removeCgroups kills whatever is left in the cluster's group, and removes it.
func removeCgroups(ctx context.Context, directory Directory) error {
	spec, err := directory.Spec()
	if errors.Is(err, fs.ErrNotExist) {
		// The spec is written before anything is started: there is no group.
		return nil
	}
	if err != nil || !spec.Containers() {
		return err
	}
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	group := cgroup.New(hierarchies, cgroupName(spec.Name))
	if err := group.Kill(); err != nil {
		return err
	}
	return group.Remove(ctx)
}

// removeDirectory removes the directory. Mounts of a node that is still ending may keep parts busy for a moment.
func removeDirectory(ctx context.Context, directory Directory) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := os.RemoveAll(string(directory))
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
