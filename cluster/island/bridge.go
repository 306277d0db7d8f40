package island

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/nodeinit"
	"github.com/kogge-dev/kogge/internal/netns"
)

// bridgeName is the bridge's, inside the island.
const bridgeName = "nodes"

// ensureNetwork makes the island's namespace and bridge if they are not there: after a reboot the file is, but
// nothing is mounted on it.
func ensureNetwork(directory Directory) (netns.Namespace, error) {
	file := directory.namespaceFile()
	present, err := isNamespace(file)
	if err != nil {
		return netns.Namespace{}, err
	}
	if present {
		namespace := netns.Open(file)
		return namespace, namespace.Do(configureBridge)
	}
	return netns.Create(file, configureBridge)
}

func isNamespace(file string) (bool, error) {
	var about unix.Statfs_t
	err := unix.Statfs(file, &about)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the island's network namespace: %w", err)
	}
	return about.Type == unix.NSFS_MAGIC, nil
}

// configureBridge runs inside the island. What is there already stays.
func configureBridge() error {
	// No IPv6 here: duplicate address detection would keep fresh links waiting.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("switch IPv6 off: %w", err)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = bridgeName
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attributes}); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the bridge: %w", err)
	}
	bridge, err := netlink.LinkByName(bridgeName)
	if err != nil {
		return fmt.Errorf("find the bridge: %w", err)
	}
	address := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(Bridge(), NodeRange.Bits()))}
	if err := netlink.AddrReplace(bridge, address); err != nil {
		return fmt.Errorf("give the bridge its address: %w", err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("bring the bridge up: %w", err)
	}
	return nil
}

// attachNode makes the cable between the bridge and the network namespace of the process: eth0 there. A cable
// left by the node's life before is taken away first.
func attachNode(namespace netns.Namespace, node Node, pid int) error {
	return namespace.Do(func() error {
		name := "node" + strconv.Itoa(node.Index)
		if left, err := netlink.LinkByName(name); err == nil {
			if err := netlink.LinkDel(left); err != nil {
				return fmt.Errorf("take %s away: %w", name, err)
			}
		}
		bridge, err := netlink.LinkByName(bridgeName)
		if err != nil {
			return fmt.Errorf("find the bridge: %w", err)
		}
		attributes := netlink.NewLinkAttrs()
		attributes.Name = name
		attributes.MasterIndex = bridge.Attrs().Index
		cable := &netlink.Veth{LinkAttrs: attributes, PeerName: nodeinit.Link, PeerNamespace: netlink.NsPid(pid)}
		if err := netlink.LinkAdd(cable); err != nil {
			return fmt.Errorf("make link %s: %w", name, err)
		}
		if err := netlink.LinkSetUp(cable); err != nil {
			return fmt.Errorf("bring link %s up: %w", name, err)
		}
		return nil
	})
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
