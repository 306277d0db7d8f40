package kubelet

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/environment"
)

const hostsPath = "/etc/hosts"

// The first line of hosts files that the kubelet writes; tests of the cluster look for it.
const (
	hostsHeader     = "# Kubernetes-managed hosts file.\n"
	hostsHeaderNode = "# Kubernetes-managed hosts file (host network).\n"
)

// mounts are all that the container sees of the node: its volumes, its hosts file, its termination message.
func (k *Kubelet) mounts(a attempt, variables []environment.Variable) ([]*runtimeapi.Mount, error) {
	if k.machine == nil {
		return nil, nil
	}
	mounts, err := k.machine.volumes.Mounts(a.pod, a.container, variables, a.mounted)
	if err != nil {
		return nil, err
	}
	if !mountsHosts(a.container) {
		hosts, err := k.hostsFile(a)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, &runtimeapi.Mount{ContainerPath: hostsPath, HostPath: hosts})
	}
	if a.container.TerminationMessagePath != "" {
		file, err := k.terminationFile(a)
		if err != nil {
			return nil, err
		}
		path := a.container.TerminationMessagePath
		if !filepath.IsAbs(path) {
			path = "/" + path
		}
		mounts = append(mounts, &runtimeapi.Mount{ContainerPath: path, HostPath: file})
	}
	return mounts, nil
}

func mountsHosts(container *v1.Container) bool {
	for _, mount := range container.VolumeMounts {
		if mount.MountPath == hostsPath {
			return true
		}
	}
	return false
}

// hostsFile writes the pod's hosts file, which all its containers share, and returns its path.
func (k *Kubelet) hostsFile(a attempt) (string, error) {
	content, err := k.hosts(a)
	if err != nil {
		return "", err
	}
	folder := k.machine.volumes.PodDirectory(a.pod.UID)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "etc-hosts")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o644)
}

func (k *Kubelet) hosts(a attempt) ([]byte, error) {
	var out bytes.Buffer
	if a.pod.Spec.HostNetwork {
		node, err := os.ReadFile(hostsPath)
		if err != nil {
			return nil, err
		}
		out.WriteString(hostsHeaderNode)
		out.Write(node)
		out.WriteString(aliases(a.pod))
		return out.Bytes(), nil
	}
	name, domain, err := k.hostname(a.pod)
	if err != nil {
		return nil, err
	}
	out.WriteString(hostsHeader)
	out.WriteString("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n" +
		"fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n")
	for _, ip := range a.observed.IPs() {
		if domain != "" {
			fmt.Fprintf(&out, "%s\t%s.%s\t%s\n", ip, name, domain, name)
		} else {
			fmt.Fprintf(&out, "%s\t%s\n", ip, name)
		}
	}
	out.WriteString(aliases(a.pod))
	return out.Bytes(), nil
}

func aliases(pod *v1.Pod) string {
	if len(pod.Spec.HostAliases) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("\n# Entries added by HostAliases.\n")
	for _, alias := range pod.Spec.HostAliases {
		fmt.Fprintf(&out, "%s\t%s\n", alias.IP, strings.Join(alias.Hostnames, "\t"))
	}
	return out.String()
}

// terminationFile makes the file that the container leaves its last words in; each attempt has its own.
func (k *Kubelet) terminationFile(a attempt) (string, error) {
	folder := filepath.Join(k.machine.volumes.PodDirectory(a.pod.UID), "containers", a.container.Name)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	path := filepath.Join(folder, hex.EncodeToString(id[:]))
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o666)
}
