package island

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
)

// neededBinaries must lie in the directory of binaries; neededCommands anywhere on the host's path, and on its
// root file system, since a node sees no other.
var (
	neededBinaries = []string{"kogge", "containerd", "containerd-shim-runc-v2", "ctr", "cni/ptp", "cni/host-local", "cni/portmap", "cni/loopback"}
	neededCommands = []string{"runc", "nft"}
)

// Preflight says what keeps this machine from running a cluster in directory, all at once, in words that tell
// what to do.
func Preflight(directory Directory, binaries string) error {
	if os.Geteuid() != 0 {
		return errors.New("clusters of containers need root: run this as root")
	}
	var problems []error
	for _, name := range neededBinaries {
		if _, err := os.Stat(filepath.Join(binaries, name)); err != nil {
			problems = append(problems, fmt.Errorf("%s is missing in %s: run `make bin build` there", name, binaries))
		}
	}
	for _, name := range neededCommands {
		problems = append(problems, checkCommand(name))
	}
	problems = append(problems, checkFileSystem(directory))
	if _, err := cgroup.Mounted(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// checkProgram is all that a cluster without containers needs.
func checkProgram(binaries string) error {
	if _, err := os.Stat(filepath.Join(binaries, "kogge")); err != nil {
		return fmt.Errorf("kogge is missing in %s: run `make build` there", binaries)
	}
	return nil
}

func checkCommand(name string) error {
	file, err := exec.LookPath(name)
	if err != nil {
		// The path of a user who became root may lack the directories of administration.
		file, err = exec.LookPath(filepath.Join("/usr/sbin", name))
	}
	if err != nil {
		return fmt.Errorf("%s is not installed: run `make bin`, or install it with your package manager", name)
	}
	same, err := sameFileSystem("/", file)
	if err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("%s is not on the root file system, where nodes could see it", file)
	}
	return nil
}

// checkFileSystem refuses places where a node's layers would not work: overlayfs can't keep its upper layer, nor
// containerd its snapshots, on another overlay.
func checkFileSystem(directory Directory) error {
	existing := string(directory)
	for {
		var about unix.Statfs_t
		err := unix.Statfs(existing, &about)
		if errors.Is(err, fs.ErrNotExist) {
			existing = filepath.Dir(existing)
			continue
		}
		if err != nil {
			return fmt.Errorf("look at the file system of %s: %w", existing, err)
		}
		if about.Type == unix.OVERLAYFS_SUPER_MAGIC {
			return fmt.Errorf("%s lies on an overlay file system, on which containers can't keep their layers: "+
				"set %s to a directory on a real one (in a container: a volume)", existing, homeVariable)
		}
		break
	}
	if strings.ContainsAny(string(directory), ":,\\") {
		return fmt.Errorf("%s: the path holds characters that mount options can't: set %s to another", directory, homeVariable)
	}
	return nil
}

func sameFileSystem(one, other string) (bool, error) {
	var first, second unix.Stat_t
	if err := unix.Stat(one, &first); err != nil {
		return false, fmt.Errorf("look at %s: %w", one, err)
	}
	if err := unix.Stat(other, &second); err != nil {
		return false, fmt.Errorf("look at %s: %w", other, err)
	}
	return first.Dev == second.Dev, nil
}
