package nodeinit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// containerdSettings is containerd's configuration: its defaults, but for what is said here.
//
//   - restrict_oom_score_adj: without CAP_SYS_RESOURCE nobody may lower an out-of-memory score, and runc dies of
//     trying ("can't get final child's PID from pipe: EOF").
//   - disabled plugins: what this node has no use for, and what would reach for the host's kernel modules.
//   - cgroupfs, not systemd, arranges the containers' groups: a node runs no systemd.
func containerdSettings(restrictScores bool) string {
	return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.monitor.container.v1.restart",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.erofs",
]

[grpc]
  address = "` + containerdSocket + `"

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "registry.k8s.io/pause:3.10.2"
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = "` + registryConfigs + `"

[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  restrict_oom_score_adj = ` + strconv.FormatBool(restrictScores) + `
  cdi_spec_dirs = []
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["` + binaries + `/cni"]
    conf_dir = "` + networkConfigs + `"

[plugins.'io.containerd.nri.v1.nri']
  disable = true
`
}

// mirrorSettings has every registry's images be looked for in the mirror first. What it doesn't have is asked of
// the registry itself.
func mirrorSettings(mirror string) string {
	return `[host."` + mirror + `"]
  capabilities = ["pull", "resolve"]
`
}

// writeContainerdSettings puts the configuration where containerd is told to read it.
func writeContainerdSettings(config Config) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read own capabilities: %w", err)
	}
	for file, content := range map[string]string{
		containerdConfig:                         containerdSettings(!hasCapability(string(status), unix.CAP_SYS_RESOURCE)),
		registryConfigs + "/_default/hosts.toml": mirrorSettings(config.Mirror),
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make directory for configuration: %w", err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write containerd's configuration: %w", err)
		}
	}
	if err := os.MkdirAll(networkConfigs, 0o755); err != nil {
		return fmt.Errorf("make directory for network configuration: %w", err)
	}
	return nil
}

// hasCapability reads from a process's status (proc(5)) whether the capability with this number is effective.
func hasCapability(status string, number uint) bool {
	for line := range strings.Lines(status) {
		value, found := strings.CutPrefix(line, "CapEff:")
		if !found {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		return err == nil && bits&(1<<number) != 0
	}
	return false
}
