package proxy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// defaultAffinity is how long a client stays with its endpoint when the Service doesn't say.
const defaultAffinity = time.Duration(corev1.DefaultClientIPServiceAffinitySeconds) * time.Second

// servicePort is one port of a Service, and all that decides where its traffic goes on this node.
type servicePort struct {
	// name is namespace/service/protocol/port, unique among Service ports.
	name     string
	protocol corev1.Protocol
	port     uint16
	// nodePort is 0 when there is none.
	nodePort uint16
	// internal is the cluster address; external are the addresses by which traffic from outside may come in.
	internal netip.Addr
	external []netip.Addr
	// affinity is how long a client stays with its endpoint; 0: it doesn't.
	affinity time.Duration
	// cluster are the usable endpoints anywhere, local those on this node.
	cluster, local []netip.AddrPort
	// internalLocal and externalLocal say that traffic of that kind may use this node's endpoints alone.
	internalLocal, externalLocal bool
	// hairpin are the addresses of all endpoints on this node, usable or not: each may still hold connections to
	// itself.
	hairpin []netip.Addr
}

// plan decides, from what the API says, how each Service port is to work on the node. The result is sorted by name.
func plan(nodeName string, services []*corev1.Service, all []*discoveryv1.EndpointSlice) []servicePort {
	endpoints := collect(nodeName, all)
	var ports []servicePort
	for _, service := range services {
		internal, ok := clusterAddress(service)
		if !ok {
			continue
		}
		for _, port := range service.Spec.Ports {
			ports = append(ports, planPort(service, port, internal, endpoints))
		}
	}
	slices.SortFunc(ports, func(a, b servicePort) int { return cmp.Compare(a.name, b.name) })
	return ports
}

func planPort(service *corev1.Service, port corev1.ServicePort, internal netip.Addr, all map[portName][]endpoint) servicePort {
	behind := all[portName{service.Namespace, service.Name, port.Name, port.Protocol}]
	here := localOnly(behind)
	planned := servicePort{
		name:          fmt.Sprintf("%s/%s/%s/%s", service.Namespace, service.Name, protocolName(port.Protocol), port.Name),
		protocol:      port.Protocol,
		port:          uint16(port.Port),
		nodePort:      uint16(port.NodePort),
		internal:      internal,
		affinity:      affinity(service),
		cluster:       usable(behind),
		local:         usable(here),
		internalLocal: service.Spec.InternalTrafficPolicy != nil && *service.Spec.InternalTrafficPolicy == corev1.ServiceInternalTrafficPolicyLocal,
		externalLocal: service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal,
	}
	for _, text := range service.Spec.ExternalIPs {
		if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
			planned.external = append(planned.external, address)
		}
	}
	for _, one := range here {
		planned.hairpin = append(planned.hairpin, one.address.Addr())
	}
	return planned
}

// clusterAddress is the address that a Service is proxied for; none for headless Services, for names, and for
// those that another proxy was told to serve.
func clusterAddress(service *corev1.Service) (netip.Addr, bool) {
	_, foreign := service.Labels[labelServiceProxyName]
	if foreign || service.Spec.Type == corev1.ServiceTypeExternalName {
		return netip.Addr{}, false
	}
	for _, text := range append([]string{service.Spec.ClusterIP}, service.Spec.ClusterIPs...) {
		if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
			return address, true
		}
	}
	return netip.Addr{}, false
}

func affinity(service *corev1.Service) time.Duration {
	if service.Spec.SessionAffinity != corev1.ServiceAffinityClientIP {
		return 0
	}
	config := service.Spec.SessionAffinityConfig
	if config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
		return defaultAffinity
	}
	return time.Duration(*config.ClientIP.TimeoutSeconds) * time.Second
}

func protocolName(protocol corev1.Protocol) string { return strings.ToLower(string(protocol)) }
