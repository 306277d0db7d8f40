package podroutes

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// protocol marks our routes. Numbers from 5 on are free; the registered ones of routing daemons are spread up to
// 192 (rtnetlink.h), and this is none of them.
const protocol netlink.RouteProtocol = 107

// apply makes our routes those that are wanted, in the network namespace of the calling thread.
func apply(want []route) error {
	have, err := observe()
	if err != nil {
		return err
	}
	set, remove := difference(have, want)
	var failures []error
	for _, one := range remove {
		if err := netlink.RouteDel(one.netlink()); err != nil && !errors.Is(err, unix.ESRCH) {
			failures = append(failures, fmt.Errorf("remove route to %s: %w", one.pods, err))
		}
	}
	for _, one := range set {
		if err := netlink.RouteReplace(one.netlink()); err != nil {
			failures = append(failures, fmt.Errorf("route %s by way of %s: %w", one.pods, one.gateway, err))
		}
	}
	return errors.Join(failures...)
}

func observe() ([]route, error) {
	found, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Protocol: protocol}, netlink.RT_FILTER_PROTOCOL)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var routes []route
	for _, one := range found {
		if one.Dst == nil {
			continue
		}
		network, ok := netip.AddrFromSlice(one.Dst.IP.To4())
		gateway, isGateway := netip.AddrFromSlice(one.Gw.To4())
		if !ok || !isGateway {
			continue
		}
		length, _ := one.Dst.Mask.Size()
		routes = append(routes, route{pods: netip.PrefixFrom(network, length), gateway: gateway})
	}
	return routes, nil
}

func (r route) netlink() *netlink.Route {
	return &netlink.Route{
		Dst:      &net.IPNet{IP: r.pods.Addr().AsSlice(), Mask: net.CIDRMask(r.pods.Bits(), r.pods.Addr().BitLen())},
		Gw:       r.gateway.AsSlice(),
		Protocol: protocol,
	}
}
