package island

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kogge-dev/kogge/cluster/island/nodeinit"
	"github.com/kogge-dev/kogge/cluster/kubeconfig"
	"github.com/kogge-dev/kogge/cluster/pki"
)

// writeConfiguration fills a new cluster's directory: keys, kubeconfigs, and a directory for each node.
func writeConfiguration(directory Directory, spec Spec) error {
	for _, name := range []string{"run", "log", "nodes", "pki"} {
		if err := os.MkdirAll(directory.path(name), 0o700); err != nil {
			return fmt.Errorf("make the cluster's directory: %w", err)
		}
	}
	keys, err := pki.LoadOrCreate(directory.path("pki"))
	if err != nil {
		return err
	}
	admin, err := keys.CA.Client("kubernetes-admin", []string{"system:masters"})
	if err != nil {
		return err
	}
	for file, server := range map[string]string{
		directory.AdminKubeconfig():    hostURL(spec),
		directory.InternalKubeconfig(): islandURL(),
	} {
		entry := kubeconfig.Entry{Name: spec.Context(), Server: server, CA: keys.CA.PEM(), Client: admin}
		if err := kubeconfig.Write(file, entry); err != nil {
			return err
		}
	}
	pulls, err := pullProxy(directory, spec)
	if err != nil {
		return err
	}
	for _, node := range spec.NodeList() {
		config := nodeConfig(directory, spec, node)
		config.PullProxy = pulls
		if err := writeNode(directory, node, config, keys.CA); err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	// Last: a directory with this file is a cluster.
	return writeJSON(directory.specFile(), spec)
}

func hostURL(spec Spec) string { return "https://127.0.0.1:" + strconv.Itoa(spec.Port) }
func islandURL() string        { return "https://" + netip.AddrPortFrom(Bridge(), NodePort).String() }

// writeNode writes what the node's first process, kubelet and proxy are told.
func writeNode(directory Directory, node Node, config nodeinit.Config, ca *pki.CA) error {
	for _, kept := range config.Kept() {
		if err := os.MkdirAll(kept, 0o755); err != nil {
			return fmt.Errorf("make the node's directory: %w", err)
		}
	}
	kubelet, err := ca.Client("system:node:"+node.Name, []string{"system:nodes"})
	if err != nil {
		return err
	}
	proxy, err := ca.Client("system:kube-proxy", nil)
	if err != nil {
		return err
	}
	serving, err := ca.Server([]string{node.Name}, []netip.Addr{node.Address})
	if err != nil {
		return err
	}
	kubernetes := filepath.Join(config.Directory, "kubernetes")
	for name, client := range map[string]pki.Pair{"kubelet": kubelet, "proxy": proxy} {
		entry := kubeconfig.Entry{Name: name, Server: islandURL(), CA: ca.PEM(), Client: client}
		if err := kubeconfig.Write(filepath.Join(kubernetes, name+".kubeconfig"), entry); err != nil {
			return err
		}
	}
	for name, content := range map[string][]byte{"ca.crt": ca.PEM(), "kubelet.crt": serving.Certificate, "kubelet.key": serving.Key} {
		if err := writeFile(filepath.Join(kubernetes, name), content, 0o600); err != nil {
			return err
		}
	}
	return writeJSON(directory.nodeConfigFile(node.Name), config)
}

// pullProxy is the URL of the proxy to registries, with the token that it asks for; empty when there is none. The
// token is made when it is missing.
func pullProxy(directory Directory, spec Spec) (string, error) {
	if !spec.Registries {
		return "", nil
	}
	file := directory.pullTokenFile()
	token, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		token = []byte(rand.Text())
		err = writeFile(file, token, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("token for image pulls: %w", err)
	}
	proxy := url.URL{Scheme: "http", User: url.UserPassword("pull", string(token)), Host: netip.AddrPortFrom(Bridge(), PullPort).String()}
	return proxy.String(), nil
}

func (d Directory) pullTokenFile() string { return d.path("pki", "pull.token") }

func (d Directory) nodeConfigFile(name string) string { return d.path("nodes", name, "node.json") }

func nodeConfig(directory Directory, spec Spec, node Node) nodeinit.Config {
	return nodeinit.Config{
		Name:         node.Name,
		Address:      netip.PrefixFrom(node.Address, NodeRange.Bits()),
		Gateway:      Bridge(),
		ServiceRange: ServiceRange,
		PodRange:     PodRange,
		Domain:       Domain,
		Mirror:       "http://" + netip.AddrPortFrom(Bridge(), MirrorPort).String(),
		Directory:    directory.node(node.Name),
		Binaries:     spec.Binaries,
		Cgroup:       []string{cgroupName(spec.Name), node.Name},
	}
}

// cgroupName is the name of the cluster's group in each hierarchy.
func cgroupName(cluster string) string { return "kogge-" + cluster }
