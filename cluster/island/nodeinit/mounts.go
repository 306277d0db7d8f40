package nodeinit

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
)

// mount is one mount of a node's file system. Mounts are made in order.
type mount struct {
	source string
	// target is a path inside the node.
	target string
	kind   string
	flags  uintptr
	data   string
	// readOnly makes a bind mount read-only, which takes a second call.
	readOnly bool
}

// covered are the host's directories that a node must not see, or must not take for its own: homes, and the
// configuration of another kubelet or container engine.
var covered = []string{"/root", "/home", "/etc/cni", "/etc/containerd"}

// mountPlan lists the mounts of a node, in order: the root first, then what lies over it.
func mountPlan(config Config, hierarchies []cgroup.Hierarchy) []mount {
	own := func(name string) string { return filepath.Join(config.Directory, name) }
	plan := []mount{{
		source: "overlay", target: "/", kind: "overlay",
		data: "lowerdir=/,upperdir=" + own("upper") + ",workdir=" + own("work"),
	}}
	for _, target := range covered {
		plan = append(plan, temporary(target, "mode=0755"))
	}
	plan = append(plan,
		temporary("/run", "mode=0755"),
		temporary("/tmp", "mode=1777"),
		bind(own("kubernetes"), "/etc/kubernetes"),
		// Real directories: overlayfs can't hold containerd's snapshots, nor is it the place for volumes.
		bind(own("containerd"), "/var/lib/containerd"),
		bind(own("kubelet"), "/var/lib/kubelet"),
		bind(own("log"), "/var/log"),
		mount{source: config.Binaries, target: binaries, flags: unix.MS_BIND, readOnly: true},

		mount{source: "proc", target: "/proc", kind: "proc", flags: unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		mount{source: "/dev", target: "/dev", flags: unix.MS_BIND | unix.MS_REC},
		mount{source: "devpts", target: "/dev/pts", kind: "devpts", flags: unix.MS_NOSUID | unix.MS_NOEXEC, data: "newinstance,ptmxmode=0666,mode=0620,gid=5"},
		mount{source: "shm", target: "/dev/shm", kind: "tmpfs", flags: unix.MS_NOSUID | unix.MS_NODEV, data: "mode=1777"},
		// A new one, since it shows the network devices of the namespace in which it was mounted.
		mount{source: "sysfs", target: "/sys", kind: "sysfs", flags: unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
	)
	return append(plan, cgroupMounts(hierarchies)...)
}

// cgroupMounts mounts the hierarchies anew: in the node's cgroup namespace they begin at the node's own group.
func cgroupMounts(hierarchies []cgroup.Hierarchy) []mount {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	var plan []mount
	for _, hierarchy := range hierarchies {
		if hierarchy.Path != cgroup.Root && len(plan) == 0 {
			plan = append(plan, mount{source: "cgroup", target: cgroup.Root, kind: "tmpfs", flags: flags, data: "mode=0755"})
		}
		kind := "cgroup"
		if hierarchy.Unified() {
			kind = "cgroup2"
		}
		plan = append(plan, mount{source: "cgroup", target: hierarchy.Path, kind: kind, flags: flags, data: hierarchy.Options})
	}
	return plan
}

func temporary(target, data string) mount {
	return mount{source: "tmpfs", target: target, kind: "tmpfs", flags: unix.MS_NOSUID | unix.MS_NODEV, data: data}
}

func bind(source, target string) mount {
	return mount{source: source, target: target, flags: unix.MS_BIND}
}
