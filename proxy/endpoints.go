package proxy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
)

// portName identifies a port of a Service by its name there, which EndpointSlices repeat.
type portName struct {
	namespace, service, port string
	protocol                 corev1.Protocol
}

// endpoint is one address behind a Service port, as EndpointSlices describe it.
type endpoint struct {
	address     netip.AddrPort
	local       bool
	ready       bool
	serving     bool
	terminating bool
}

// collect gathers the endpoints of each Service port out of all slices. An address that several slices name counts
// once; one that any of them calls ready is ready.
func collect(nodeName string, all []*discoveryv1.EndpointSlice) map[portName][]endpoint {
	found := map[portName]map[netip.AddrPort]endpoint{}
	for _, slice := range all {
		service := slice.Labels[discoveryv1.LabelServiceName]
		if service == "" || slice.AddressType != discoveryv1.AddressTypeIPv4 {
			continue
		}
		for _, port := range slice.Ports {
			if port.Port == nil {
				continue
			}
			name := portName{
				namespace: slice.Namespace, service: service,
				port: ptr.Deref(port.Name, ""), protocol: ptr.Deref(port.Protocol, corev1.ProtocolTCP),
			}
			if found[name] == nil {
				found[name] = map[netip.AddrPort]endpoint{}
			}
			for _, described := range slice.Endpoints {
				read, ok := readEndpoint(nodeName, described, uint16(*port.Port))
				if present, again := found[name][read.address]; ok && !(again && present.ready) {
					found[name][read.address] = read
				}
			}
		}
	}
	return sorted(found)
}

// readEndpoint reads what a slice says of one endpoint. Conditions that are not set have the values that the API
// documents: ready unless said otherwise, serving as ready is, not terminating. Of several addresses, which stand
// for the same endpoint, the first is used.
func readEndpoint(nodeName string, described discoveryv1.Endpoint, port uint16) (endpoint, bool) {
	if len(described.Addresses) == 0 {
		return endpoint{}, false
	}
	address, err := netip.ParseAddr(described.Addresses[0])
	if err != nil || !address.Is4() {
		return endpoint{}, false
	}
	ready := ptr.Deref(described.Conditions.Ready, true)
	return endpoint{
		address:     netip.AddrPortFrom(address, port),
		local:       described.NodeName != nil && *described.NodeName == nodeName,
		ready:       ready,
		serving:     ptr.Deref(described.Conditions.Serving, ready),
		terminating: ptr.Deref(described.Conditions.Terminating, false),
	}, true
}

func sorted(found map[portName]map[netip.AddrPort]endpoint) map[portName][]endpoint {
	result := make(map[portName][]endpoint, len(found))
	for name, endpoints := range found {
		list := make([]endpoint, 0, len(endpoints))
		for _, one := range endpoints {
			list = append(list, one)
		}
		slices.SortFunc(list, func(a, b endpoint) int { return a.address.Compare(b.address) })
		result[name] = list
	}
	return result
}

// usable picks the endpoints that traffic may go to: the ready ones, and when there is none, those that are
// terminating but still serve, so that a rollout's last pods are not cut off (KEP-1669).
func usable(endpoints []endpoint) []netip.AddrPort {
	var ready, draining []netip.AddrPort
	for _, one := range endpoints {
		switch {
		case one.ready:
			ready = append(ready, one.address)
		case one.serving && one.terminating:
			draining = append(draining, one.address)
		}
	}
	if len(ready) > 0 {
		return ready
	}
	return draining
}

func localOnly(endpoints []endpoint) []endpoint {
	var local []endpoint
	for _, one := range endpoints {
		if one.local {
			local = append(local, one)
		}
	}
	return local
}
