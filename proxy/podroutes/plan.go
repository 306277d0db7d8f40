package podroutes

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// route leads to the pods of one node.
type route struct {
	pods    netip.Prefix
	gateway netip.Addr
}

// nowhere is the range of simulated nodes' addresses (RFC 2544's, for benchmarks): no packet reaches them.
var nowhere = netip.MustParsePrefix("198.18.0.0/15")

// plan lists the routes to the pods of all nodes but the one called self (which has its pods on links of its own).
// Nodes without a range or without an internal address are left out until they have both.
func plan(self string, nodes []*corev1.Node) []route {
	var routes []route
	for _, node := range nodes {
		if node.Name == self {
			continue
		}
		pods, ok := podRange(node)
		if !ok {
			continue
		}
		if gateway, ok := internalAddress(node); ok && !nowhere.Contains(gateway) {
			routes = append(routes, route{pods: pods, gateway: gateway})
		}
	}
	slices.SortFunc(routes, func(a, b route) int {
		return cmp.Or(a.pods.Addr().Compare(b.pods.Addr()), cmp.Compare(a.pods.Bits(), b.pods.Bits()))
	})
	return routes
}

// difference lists which routes to put in place (each replaces any other to the same pods) and which to take away.
func difference(have, want []route) (set, remove []route) {
	wanted := map[netip.Prefix]netip.Addr{}
	for _, one := range want {
		wanted[one.pods] = one.gateway
	}
	present := map[route]bool{}
	for _, one := range have {
		present[one] = true
		if _, still := wanted[one.pods]; !still {
			remove = append(remove, one)
		}
	}
	for _, one := range want {
		if !present[one] {
			set = append(set, one)
		}
	}
	return set, remove
}

func podRange(node *corev1.Node) (netip.Prefix, bool) {
	for _, text := range append([]string{node.Spec.PodCIDR}, node.Spec.PodCIDRs...) {
		if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Addr().Is4() {
			return prefix.Masked(), true
		}
	}
	return netip.Prefix{}, false
}

func internalAddress(node *corev1.Node) (netip.Addr, bool) {
	for _, reported := range node.Status.Addresses {
		if reported.Type != corev1.NodeInternalIP {
			continue
		}
		if address, err := netip.ParseAddr(reported.Address); err == nil && address.Is4() {
			return address, true
		}
	}
	return netip.Addr{}, false
}
