package runtime

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// SandboxSettings is what a sandbox's configuration needs beside the pod.
type SandboxSettings struct {
	// Attempt counts the sandboxes of the pod, from 0.
	Attempt uint32
	// Hostname of the pod; unused on the host's network.
	Hostname string
	DNS      *runtimeapi.DNSConfig
	// LogRoot is the folder of all pods' logs; "" for a runtime that writes none.
	LogRoot string
	// CgroupParent is the pod's cgroup as a path below the root of the hierarchy; "" for none.
	CgroupParent string
}

// SandboxConfig is the runtime's view of a pod without its containers.
func SandboxConfig(pod *v1.Pod, settings SandboxSettings) *runtimeapi.PodSandboxConfig {
	config := &runtimeapi.PodSandboxConfig{
		Metadata:    &runtimeapi.PodSandboxMetadata{Name: pod.Name, Namespace: pod.Namespace, Uid: string(pod.UID), Attempt: settings.Attempt},
		Labels:      sandboxLabels(pod),
		Annotations: pod.Annotations,
		DnsConfig:   settings.DNS,
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent:    settings.CgroupParent,
			SecurityContext: sandboxSecurity(pod),
			Sysctls:         sysctls(pod),
			Resources:       sandboxResources(pod),
			Overhead:        overheadResources(pod),
		},
	}
	if settings.LogRoot != "" {
		config.LogDirectory = PodLogDirectory(settings.LogRoot, pod.Namespace, pod.Name, pod.UID)
	}
	if !pod.Spec.HostNetwork {
		config.Hostname = settings.Hostname
	}
	for i := range pod.Spec.Containers {
		config.PortMappings = append(config.PortMappings, portMappings(&pod.Spec.Containers[i])...)
	}
	return config
}

// portMappings lists the ports of a container. Those without a host port are passed too, as upstream does: the
// runtime ignores them. A port that a list names twice counts once.
func portMappings(container *v1.Container) []*runtimeapi.PortMapping {
	var mappings []*runtimeapi.PortMapping
	seen := map[string]bool{}
	for _, port := range container.Ports {
		family := "any"
		if strings.Contains(port.HostIP, ":") {
			family = "v6"
		} else if port.HostIP != "" {
			family = "v4"
		}
		key := fmt.Sprintf("%s-%s-%s:%d:%d", family, port.Protocol, port.HostIP, port.ContainerPort, port.HostPort)
		if seen[key] {
			continue
		}
		seen[key] = true
		mappings = append(mappings, &runtimeapi.PortMapping{
			HostIp: port.HostIP, HostPort: port.HostPort, ContainerPort: port.ContainerPort, Protocol: protocol(port.Protocol),
		})
	}
	return mappings
}

func protocol(p v1.Protocol) runtimeapi.Protocol {
	switch p {
	case v1.ProtocolUDP:
		return runtimeapi.Protocol_UDP
	case v1.ProtocolSCTP:
		return runtimeapi.Protocol_SCTP
	default:
		return runtimeapi.Protocol_TCP
	}
}

// sysctls are given with slashes or dots; runc knows only dots. In a name with slashes the dots are part of a
// word (net/ipv4/conf/eth0.1/forwarding), so the two change places.
func sysctls(pod *v1.Pod) map[string]string {
	settings := map[string]string{}
	if pod.Spec.SecurityContext == nil {
		return settings
	}
	for _, sysctl := range pod.Spec.SecurityContext.Sysctls {
		name := sysctl.Name
		if first := strings.IndexAny(name, "./"); first >= 0 && name[first] == '/' {
			name = strings.NewReplacer("/", ".", ".", "/").Replace(name)
		}
		settings[name] = sysctl.Value
	}
	return settings
}
