package registry

import (
	"net/netip"
	"testing"
)

func TestFreeAddresses(t *testing.T) {
	t.Parallel()
	s := NewServices(ServicesOptions{ClusterIPs: netip.MustParsePrefix("10.96.0.0/28")})
	seen := map[netip.Addr]bool{}
	for {
		ip, err := s.freeIP()
		if err != nil {
			break
		}
		if !s.ClusterIPs.Contains(ip) || seen[ip] {
			t.Fatalf("%v was given out, again or from outside", ip)
		}
		seen[ip], s.ips[ip] = true, true
	}
	// All but the network's own address and the last.
	if len(seen) != 14 {
		t.Errorf("%d addresses of a range of 16", len(seen))
	}
}

func TestOffset(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{0: "10.96.0.0", 1: "10.96.0.1", 255: "10.96.0.255", 256: "10.96.1.0", 65535: "10.96.255.255"} {
		if got := offset(netip.MustParseAddr("10.96.0.0"), n); got.String() != want {
			t.Errorf("%d: %v", n, got)
		}
	}
}
