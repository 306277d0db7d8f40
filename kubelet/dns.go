package kubelet

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// What a resolver accepts.
const (
	maxNameservers  = 3
	maxSearches     = 32
	maxSearchLength = 2048
)

// podDNS is the resolver configuration of a pod by its policy.
func (k *Kubelet) podDNS(pod *v1.Pod) (*runtimeapi.DNSConfig, error) {
	if k.options.RootDir == "" {
		return &runtimeapi.DNSConfig{}, nil
	}
	host, err := readResolvConf(k.options.ResolvConf)
	if err != nil {
		return nil, err
	}
	policy := pod.Spec.DNSPolicy
	if policy == v1.DNSClusterFirst && pod.Spec.HostNetwork {
		policy = v1.DNSDefault // only ClusterFirstWithHostNet asks for the cluster's there
	}
	config := host
	switch policy {
	case v1.DNSNone:
		config = &runtimeapi.DNSConfig{}
	case v1.DNSClusterFirst, v1.DNSClusterFirstWithHostNet:
		if len(k.options.ClusterDNS) > 0 {
			config = k.clusterDNS(pod, host)
		}
	}
	return fitLimits(withOwn(config, pod.Spec.DNSConfig)), nil
}

// tellMissingDNS says that a pod which wants the cluster's resolver gets the node's.
func (k *Kubelet) tellMissingDNS(pod *v1.Pod) {
	wants := pod.Spec.DNSPolicy == v1.DNSClusterFirstWithHostNet || pod.Spec.DNSPolicy == v1.DNSClusterFirst && !pod.Spec.HostNetwork
	if wants && len(k.options.ClusterDNS) == 0 && k.options.RootDir != "" {
		k.recordPod(pod, v1.EventTypeWarning, "MissingClusterDNS", fmt.Sprintf(
			"pod: %q. kubelet does not have ClusterDNS IP configured and cannot create Pod using %q policy. Falling back to %q policy.",
			podspec.Describe(pod), v1.DNSClusterFirst, v1.DNSDefault))
	}
}

func (k *Kubelet) clusterDNS(pod *v1.Pod, host *runtimeapi.DNSConfig) *runtimeapi.DNSConfig {
	domain := k.options.ClusterDomain
	config := &runtimeapi.DNSConfig{
		Searches: append([]string{pod.Namespace + ".svc." + domain, "svc." + domain, domain}, host.Searches...),
		Options:  []string{"ndots:5"},
	}
	for _, server := range k.options.ClusterDNS {
		config.Servers = append(config.Servers, server.String())
	}
	config.Searches = unique(config.Searches)
	return config
}

// withOwn adds what the pod itself asks for. An option of the same name replaces the earlier one.
func withOwn(config *runtimeapi.DNSConfig, own *v1.PodDNSConfig) *runtimeapi.DNSConfig {
	if own == nil {
		return config
	}
	config.Servers = unique(append(config.Servers, own.Nameservers...))
	config.Searches = unique(append(config.Searches, own.Searches...))
	for _, option := range own.Options {
		text := option.Name
		if option.Value != nil && *option.Value != "" {
			text += ":" + *option.Value
		}
		config.Options = slices.DeleteFunc(config.Options, func(old string) bool {
			name, _, _ := strings.Cut(old, ":")
			return name == option.Name
		})
		config.Options = append(config.Options, text)
	}
	return config
}

func fitLimits(config *runtimeapi.DNSConfig) *runtimeapi.DNSConfig {
	if len(config.Servers) > maxNameservers {
		config.Servers = config.Servers[:maxNameservers]
	}
	for len(config.Searches) > maxSearches || len(strings.Join(config.Searches, " ")) > maxSearchLength {
		config.Searches = config.Searches[:len(config.Searches)-1]
	}
	return config
}

func readResolvConf(path string) (config *runtimeapi.DNSConfig, err error) {
	config = &runtimeapi.DNSConfig{}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return config, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the node's resolver configuration: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		switch fields[0] {
		case "nameserver":
			config.Servers = append(config.Servers, fields[1:]...)
		case "search":
			// The last line counts; a dot at the end means nothing there.
			config.Searches = nil
			for _, domain := range fields[1:] {
				if domain != "." {
					domain = strings.TrimSuffix(domain, ".")
				}
				config.Searches = append(config.Searches, domain)
			}
		case "options":
			config.Options = append(config.Options, fields[1:]...)
		}
	}
	return config, lines.Err()
}

func unique(list []string) []string {
	var kept []string
	for _, text := range list {
		if !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}
