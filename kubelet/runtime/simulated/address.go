package simulated

import (
	"net/netip"
)

// allocator hands out the addresses of a range, the lowest free one behind the last first, so that an address is
// not soon used again.
type allocator struct {
	prefix netip.Prefix
	last   netip.Addr
	used   map[netip.Addr]bool
}

func newAllocator(prefix netip.Prefix) *allocator {
	prefix = prefix.Masked()
	// The first address names the network, the second is the gateway's on a real node.
	return &allocator{prefix: prefix, last: prefix.Addr().Next(), used: map[netip.Addr]bool{}}
}

// take returns a free address, or false when all are in use.
func (a *allocator) take() (netip.Addr, bool) {
	gateway := a.prefix.Addr().Next()
	for next := a.last.Next(); next != a.last; next = next.Next() {
		if !a.prefix.Contains(next) {
			next = gateway
			if a.last == gateway {
				return netip.Addr{}, false
			}
			continue
		}
		if !a.used[next] {
			a.used[next] = true
			a.last = next
			return next, true
		}
	}
	if a.last != gateway && !a.used[a.last] {
		a.used[a.last] = true
		return a.last, true
	}
	return netip.Addr{}, false
}

// free gives an address back; one of another range is ignored.
func (a *allocator) free(address netip.Addr) { delete(a.used, address) }
