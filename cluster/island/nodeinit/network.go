package nodeinit

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
)

// Link is the name of a node's network interface inside the node.
const Link = "eth0"

// sysctls that a node needs as a router for its pods. Reverse-path filters would drop what comes from a pod by
// way of another node's Service.
var sysctls = map[string]string{
	"/proc/sys/net/ipv4/ip_forward":             "1",
	"/proc/sys/net/ipv4/conf/all/rp_filter":     "0",
	"/proc/sys/net/ipv4/conf/default/rp_filter": "0",
}

// configureNetwork gives the link its address, and the node a route for the Service range: without any, the
// kernel drops what the node's own processes send there before nftables sees it. There is no default route, so
// that nothing leaves the island.
func configureNetwork(config Config) error {
	for file, value := range sysctls {
		if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
			return fmt.Errorf("set sysctl: %w", err)
		}
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	link, err := netlink.LinkByName(Link)
	if err != nil {
		return fmt.Errorf("find %s: %w", Link, err)
	}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ipNet(config.Address)}); err != nil {
		return fmt.Errorf("give %s its address: %w", Link, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring %s up: %w", Link, err)
	}
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(config.ServiceRange), Gw: config.Gateway.AsSlice()}
	if err := netlink.RouteReplace(route); err != nil {
		return fmt.Errorf("route the service range: %w", err)
	}
	return nil
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
