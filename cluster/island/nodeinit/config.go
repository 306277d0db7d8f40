package nodeinit

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// Config describes one node to its first process.
type Config struct {
	// Name is the Node object's and the host name.
	Name string `json:"name"`
	// Address is the node's, with the length of the range that the nodes share.
	Address netip.Prefix `json:"address"`
	// Gateway is the bridge's address, where the API server listens. There is no way further from there.
	Gateway netip.Addr `json:"gateway"`
	// ServiceRange and PodRange are the cluster's.
	ServiceRange netip.Prefix `json:"serviceRange"`
	PodRange     netip.Prefix `json:"podRange"`
	// Domain is the cluster's DNS domain.
	Domain string `json:"domain"`
	// Mirror is the URL of the registry mirror that is asked before any other registry.
	Mirror string `json:"mirror"`
	// PullProxy is the URL of the proxy by which registries are reached; empty: they are not.
	PullProxy string `json:"pullProxy,omitempty"`
	// Directory is the node's own on the host, Binaries that of kogge and what it needs beside it.
	Directory string `json:"directory"`
	Binaries  string `json:"binaries"`
	// Cgroup are the elements of the path of the node's cgroup.
	Cgroup []string `json:"cgroup"`
}

// Load reads a Config from its file.
func Load(file string) (Config, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Config{}, fmt.Errorf("read the node's configuration: %w", err)
	}
	var config Config
	if err := json.Unmarshal(content, &config); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	return config, nil
}

// Kept are the directories, below the node's own on the host, that must exist before it starts.
func (c Config) Kept() []string {
	names := []string{"upper", "work", "root", "containerd", "kubelet", "kubernetes", "log/kogge"}
	for at, name := range names {
		names[at] = filepath.Join(c.Directory, name)
	}
	return names
}

// Where things are inside a node.
const (
	binaries         = "/opt/kogge/bin"
	logs             = "/var/log/kogge"
	containerdSocket = "/run/containerd/containerd.sock"
	containerdConfig = "/etc/containerd/config.toml"
	registryConfigs  = "/etc/containerd/certs.d"
	networkConfigs   = "/etc/cni/net.d"
	searchPath       = binaries + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
