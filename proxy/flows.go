package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// UDP has no connections, but the kernel tracks flows all the same: as long as a client keeps sending, its packets
// go where the first went, be that endpoint gone or be there none then. So flows that lead where their Service no
// longer does are forgotten whenever UDP Services change.

// destination is where a UDP client sends to. A node port has no address: it is any of this node's.
type destination struct {
	address netip.Addr
	port    uint16
}

// flows tells which tracked UDP flows are stale: for each destination of a Service, now or before, the endpoints
// that its flows may lead to now.
type flows map[destination]map[netip.AddrPort]bool

// staleFlows compares what was planned before with what is planned now. It returns nil when no UDP Service changed.
func staleFlows(before, now []servicePort) flows {
	previous, current := flows{}, flows{}
	previous.add(before)
	current.add(now)
	changed := false
	for where, endpoints := range current {
		old, found := previous[where]
		if !found || !sameEndpoints(old, endpoints) {
			changed = true
		}
	}
	for where := range previous {
		if _, found := current[where]; !found {
			current[where] = nil
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return current
}

func (f flows) add(ports []servicePort) {
	for _, port := range ports {
		if port.protocol != corev1.ProtocolUDP {
			continue
		}
		endpoints := map[netip.AddrPort]bool{}
		for _, endpoint := range append(append([]netip.AddrPort{}, port.cluster...), port.local...) {
			endpoints[endpoint] = true
		}
		f[destination{port.internal, port.port}] = endpoints
		for _, address := range port.external {
			f[destination{address, port.port}] = endpoints
		}
		if port.nodePort != 0 {
			f[destination{netip.Addr{}, port.nodePort}] = endpoints
		}
	}
}

func sameEndpoints(one, other map[netip.AddrPort]bool) bool {
	if len(one) != len(other) {
		return false
	}
	for endpoint := range one {
		if !other[endpoint] {
			return false
		}
	}
	return true
}

// stale tells whether a flow to this destination, whose replies come from replier, is to be forgotten. Of flows to
// a node port only those are looked at that were translated: the port may be anybody's on other addresses.
func (f flows) stale(to, replier netip.AddrPort) bool {
	if endpoints, found := f[destination{to.Addr(), to.Port()}]; found {
		return !endpoints[replier]
	}
	endpoints, found := f[destination{netip.Addr{}, to.Port()}]
	return found && to != replier && !endpoints[replier]
}

// MatchConntrackFlow makes flows a filter of netlink's.
func (f flows) MatchConntrackFlow(flow *netlink.ConntrackFlow) bool {
	if flow.Forward.Protocol != unix.IPPROTO_UDP {
		return false
	}
	return f.stale(addrPort(flow.Forward.DstIP, flow.Forward.DstPort), addrPort(flow.Reverse.SrcIP, flow.Reverse.SrcPort))
}

// forget has the kernel forget the stale flows.
func (f flows) forget() error {
	if f == nil {
		return nil
	}
	_, err := netlink.ConntrackDeleteFilters(netlink.ConntrackTable, unix.AF_INET, f)
	// A flow that ended by itself meanwhile is as good as deleted.
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("forget stale UDP flows: %w", err)
	}
	return nil
}

func addrPort(ip net.IP, port uint16) netip.AddrPort {
	address, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(address.Unmap(), port)
}
