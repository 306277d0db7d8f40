package island

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Directory is where everything of one cluster lies:
//
//	cluster.json            the Spec
//	simulation.json         which simulated nodes there are to be
//	pki/                    the authority and the key for ServiceAccounts
//	admin.kubeconfig        the administrator's, from the host
//	internal.kubeconfig     the same, from inside the island
//	etcd/                   the API server's data
//	netns                   the island's network namespace (a mount)
//	run/                    process records, and the supervisor's lock
//	log/                    supervisor.log, server.log
//	nodes/NAME/             node.json, kubernetes/, and what the node keeps: upper/, containerd/, kubelet/, log/
type Directory string

// homeVariable overrides where clusters' directories lie.
const homeVariable = "KOGGE_HOME"

// Home is the directory that holds those of all clusters: $KOGGE_HOME, or else ~/.local/share/kogge.
func Home() (string, error) {
	if home := os.Getenv(homeVariable); home != "" {
		return filepath.Abs(home)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for clusters: set %s: %w", homeVariable, err)
	}
	return filepath.Join(home, ".local", "share", "kogge"), nil
}

// Locate is the directory of the cluster with this name, whether it exists or not.
func Locate(cluster string) (Directory, error) {
	if !clusterName.MatchString(cluster) {
		return "", Spec{Name: cluster}.Validate()
	}
	home, err := Home()
	if err != nil {
		return "", err
	}
	return Directory(filepath.Join(home, cluster)), nil
}

// List names the clusters that exist, sorted.
func List() ([]string, error) {
	home, err := Home()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(home, entry.Name(), "cluster.json")); err == nil {
			names = append(names, entry.Name())
		}
	}
	sort.Strings(names)
	return names, nil
}

func (d Directory) path(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

func (d Directory) specFile() string             { return d.path("cluster.json") }
func (d Directory) namespaceFile() string        { return d.path("netns") }
func (d Directory) lockFile() string             { return d.path("run", "lock") }
func (d Directory) recordFile(who string) string { return d.path("run", who+".json") }
func (d Directory) logFile(who string) string    { return d.path("log", who+".log") }
func (d Directory) node(name string) string      { return d.path("nodes", name) }

// AdminKubeconfig is the administrator's kubeconfig for use on the host.
func (d Directory) AdminKubeconfig() string { return d.path("admin.kubeconfig") }

// InternalKubeconfig is the administrator's kubeconfig for use inside the island.
func (d Directory) InternalKubeconfig() string { return d.path("internal.kubeconfig") }

// NodeLog is the directory of a node's logs: init, containerd, kubelet and proxy.
func (d Directory) NodeLog(name string) string { return d.path("nodes", name, "log", "kogge") }

// Exists tells whether a cluster was created here, wholly or in part.
func (d Directory) Exists() bool {
	_, err := os.Stat(string(d))
	return err == nil
}

// parts are what a cluster's directory has.
var parts = []string{"admin.kubeconfig", "cluster.json", "etcd", "internal.kubeconfig", "log", "netns", "nodes", "pki", "run", "simulation.json"}

// Check refuses a directory that is somebody else's: one without a spec, in which there is something that no cluster has. A cluster that was
// deleted halfway may have lost its spec.
func (d Directory) Check() error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into the cluster's directory: %w", err)
	}
	foreign := ""
	for _, entry := range entries {
		if entry.Name() == filepath.Base(d.specFile()) {
			return nil
		}
		if !slices.Contains(parts, strings.TrimSuffix(entry.Name(), ".partial")) {
			foreign = entry.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s is not a cluster's directory: %s is in it, and no cluster.json", string(d), foreign)
	}
	return nil
}

// Spec reads what the cluster was created with.
func (d Directory) Spec() (Spec, error) {
	content, err := os.ReadFile(d.specFile())
	if err != nil {
		return Spec{}, fmt.Errorf("read the cluster's spec: %w", err)
	}
	var spec Spec
	if err := json.Unmarshal(content, &spec); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", d.specFile(), err)
	}
	return spec, spec.Validate()
}

func writeJSON(file string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(file), err)
	}
	return writeFile(file, content, 0o600)
}

// writeFile puts content in place at once, so that nobody ever reads half a file.
func writeFile(file string, content []byte, mode fs.FileMode) error {
	if err := os.WriteFile(file+".partial", content, mode); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	if err := os.Rename(file+".partial", file); err != nil {
		return fmt.Errorf("put %s in place: %w", filepath.Base(file), err)
	}
	return nil
}
