package nodeinit

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
)

// system is the group, below the node's, of the node's own processes: on cgroup v2 only leaves hold processes,
// and the pods' groups are to be the node group's other children.
const system = "system"

// Prepare puts this process, the first of its process namespace, into the node's cgroup, makes that the root of
// what the node will see of cgroups, and starts the same program again as `node-init --inside`. It returns only
// when something failed.
func Prepare(config Config, configFile string) error {
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	group := cgroup.New(hierarchies, config.Cgroup...)
	if err := group.Join(); err != nil {
		return err
	}
	// A thread leaves a cgroup namespace alone; the one that calls exec becomes the whole process.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("make cgroup namespace: %w", err)
	}
	leaf, err := group.CreateLeaf(system)
	if err != nil {
		return err
	}
	if err := leaf.Join(); err != nil {
		return err
	}
	if err := group.Delegate(); err != nil {
		return err
	}
	arguments := []string{"kogge", "node-init", "--config", configFile, "--inside"}
	if err := unix.Exec("/proc/self/exe", arguments, os.Environ()); err != nil {
		return fmt.Errorf("start again inside: %w", err)
	}
	return nil
}
