package stages

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
)

// errNoAddress: all are in use.
var errNoAddress = errors.New("no free address")

// addresses are those of pods. A pod keeps its own until it is gone. Safe for concurrent use.
type addresses struct {
	mu   sync.Mutex
	of   map[string]netip.Addr // by uid
	used map[netip.Addr]string
	last map[netip.Prefix]netip.Addr
}

func newAddresses() *addresses {
	return &addresses{of: map[string]netip.Addr{}, used: map[netip.Addr]string{}, last: map[netip.Prefix]netip.Addr{}}
}

// take gives a pod's address: that which it has, or the free one behind the last, so that none is soon used again. The first two of a range
// are the network's and, on a real node, the gateway's.
func (a *addresses) take(uid string, from netip.Prefix) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if has, known := a.of[uid]; known {
		return has, nil
	}
	first := from.Masked().Addr().Next().Next()
	start, again := a.last[from]
	if again {
		start = start.Next()
	}
	if !from.Contains(start) {
		start = first
	}
	for next := start; ; {
		if _, taken := a.used[next]; !taken {
			a.last[from] = next
			a.keep(uid, next)
			return next, nil
		}
		if next = next.Next(); !from.Contains(next) {
			next = first
		}
		if next == start {
			return netip.Addr{}, fmt.Errorf("%w of %s", errNoAddress, from)
		}
	}
}

// note: a pod has an address already.
func (a *addresses) note(uid, address string) {
	has, err := netip.ParseAddr(address)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, taken := a.used[has]; !taken {
		a.keep(uid, has)
	}
}

func (a *addresses) keep(uid string, address netip.Addr) {
	delete(a.used, a.of[uid]) // another that it had before
	a.of[uid], a.used[address] = address, uid
}

// free gives back what a pod had.
func (a *addresses) free(uid string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if has, known := a.of[uid]; known {
		delete(a.of, uid)
		delete(a.used, has)
	}
}
