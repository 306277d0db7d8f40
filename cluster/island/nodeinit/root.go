package nodeinit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
)

// enterRoot makes the node's file system and leaves the host's.
func enterRoot(config Config) error {
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	links, err := cgroupLinks(hierarchies)
	if err != nil {
		return err
	}
	// Nothing mounted here may travel to the host.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate mounts from the host's: %w", err)
	}
	root := filepath.Join(config.Directory, "root")
	for _, planned := range mountPlan(config, hierarchies) {
		if err := planned.make(root); err != nil {
			return err
		}
	}
	for link, target := range links {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			return fmt.Errorf("link cgroup hierarchies: %w", err)
		}
	}
	if err := pivot(root); err != nil {
		return err
	}
	// Volumes with mount propagation need a shared root, as every node of a cluster has.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share mounts inside the node: %w", err)
	}
	return nil
}

// make mounts m below root, and makes the directory that it is mounted on.
func (m mount) make(root string) error {
	target := filepath.Join(root, m.target)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("make mount point %s: %w", m.target, err)
	}
	if err := unix.Mount(m.source, target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("mount %s: %w", m.target, err)
	}
	if !m.readOnly {
		return nil
	}
	if err := unix.Mount("", target, "", m.flags|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", m.target, err)
	}
	return nil
}

// cgroupLinks are the symbolic links beside the hierarchies on the host ("cpu" for "cpu,cpuacct"): programs look
// for either name.
func cgroupLinks(hierarchies []cgroup.Hierarchy) (map[string]string, error) {
	links := map[string]string{}
	if len(hierarchies) == 1 && hierarchies[0].Path == cgroup.Root {
		return links, nil
	}
	entries, err := os.ReadDir(cgroup.Root)
	if err != nil {
		return nil, fmt.Errorf("look for cgroups: %w", err)
	}
	for _, entry := range entries {
		if entry.Type() != fs.ModeSymlink {
			continue
		}
		link := filepath.Join(cgroup.Root, entry.Name())
		if links[link], err = os.Readlink(link); err != nil {
			return nil, fmt.Errorf("look for cgroups: %w", err)
		}
	}
	return links, nil
}

// pivot makes root the file system's root and lets go of the old one, with every mount below it.
func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return fmt.Errorf("enter the node's root: %w", err)
	}
	// Both names may be the same directory (pivot_root(2)): the old root then lies on top of the new one, and
	// comes off.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the host's root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("enter the node's root: %w", err)
	}
	return nil
}

// machineID is 32 hexadecimal digits in systemd's manner, the same at each start of the node.
func machineID(config Config) string {
	sum := sha256.Sum256([]byte(config.Directory + "\x00" + config.Name))
	return hex.EncodeToString(sum[:16])
}

// writeIdentity gives the node a name and files of its own where the host's would be wrong.
func writeIdentity(config Config) error {
	if err := unix.Sethostname([]byte(config.Name)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	address := config.Address.Addr().String()
	for file, content := range map[string]string{
		"/etc/hostname": config.Name + "\n",
		"/etc/hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n" +
			address + " " + config.Name + "\n",
		// Nothing answers there yet, but a refusal at once is better than a resolver that waits.
		"/etc/resolv.conf": "nameserver " + config.Gateway.String() + "\noptions timeout:1 attempts:1\n",
		"/etc/machine-id":  machineID(config) + "\n",
	} {
		// It may be a link into something that is covered here.
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace %s: %w", file, err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	return nil
}
