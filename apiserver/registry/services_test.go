package registry

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prefix      string
		count       int
		first, last string
		reserved    int // of the lowest, which come last
	}{
		// All but the network's own address and the last.
		{"10.96.0.0/28", 14, "10.96.0.1", "10.96.0.14", 0},
		{"10.96.0.0/24", 254, "10.96.0.1", "10.96.0.254", 16},
		{"10.96.0.0/16", 65534, "10.96.0.1", "10.96.255.254", 256},
		{"fd00::/120", 255, "fd00::1", "fd00::ff", 16},
	} {
		var all []netip.Addr
		for ip := range candidates(netip.MustParsePrefix(c.prefix)) {
			all = append(all, ip)
		}
		low := all[len(all)-c.reserved:]
		if c.reserved > 0 && (slices.MinFunc(low, netip.Addr.Compare).String() != c.first || slices.ContainsFunc(all[:len(all)-c.reserved], func(ip netip.Addr) bool {
			return ip.Less(slices.MaxFunc(low, netip.Addr.Compare))
		})) {
			t.Errorf("%s: the %d lowest don't come last", c.prefix, c.reserved)
		}
		slices.SortFunc(all, netip.Addr.Compare)
		if n := len(slices.Compact(slices.Clone(all))); n != c.count || len(all) != c.count || all[0].String() != c.first || all[n-1].String() != c.last {
			t.Errorf("%s: %d different of %d, from %v to %v", c.prefix, n, len(all), all[0], all[len(all)-1])
		}
		for _, ip := range []netip.Addr{all[0], all[len(all)-1]} {
			if !inside(netip.MustParsePrefix(c.prefix), ip) {
				t.Errorf("%s: %v isn't inside", c.prefix, ip)
			}
		}
		if base := netip.MustParsePrefix(c.prefix).Addr(); inside(netip.MustParsePrefix(c.prefix), base) {
			t.Errorf("%s: the network's own address is inside", c.prefix)
		}
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

func TestPortSet(t *testing.T) {
	t.Parallel()
	s := &portSet{first: 30000, last: 30063}
	for i := range 64 {
		n, err := s.takeAny()
		if err != nil {
			t.Fatal(err)
		}
		if low := n < 30016; low != (i >= 48) {
			t.Errorf("the %dth port is %d", i, n)
		}
	}
	if _, err := s.takeAny(); !errors.Is(err, errRangeFull) {
		t.Errorf("a full range: %v", err)
	}
	s.release(30005)
	if s.has(30005) || s.take(30005) != nil || !errors.Is(s.take(30005), errPortTaken) || s.take(29999) == nil || s.take(30064) == nil {
		t.Error("a port is free once it is released, once, and none is outside of the range")
	}
}

func TestPortChoices(t *testing.T) {
	t.Parallel()
	port := func(protocol corev1.Protocol, n, node int32) corev1.ServicePort {
		return corev1.ServicePort{Protocol: protocol, Port: n, NodePort: node}
	}
	choose := func(had *corev1.Service, ports ...corev1.ServicePort) (*corev1.Service, []int, error) {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: ports}}
		set := &portSet{first: 30000, last: 32767}
		if err := set.take(30001); err != nil { // somebody else's
			t.Fatal(err)
		}
		was := had
		if was == nil {
			was = &corev1.Service{}
		}
		c := &portChoice{service: svc, taken: set}
		err := c.choose(was, had == nil)
		return svc, c.ports, err
	}
	svc, taken, err := choose(nil, port("TCP", 53, 0), port("UDP", 53, 0), port("TCP", 80, 30080))
	if err != nil || len(taken) != 2 || svc.Spec.Ports[0].NodePort != svc.Spec.Ports[1].NodePort || svc.Spec.Ports[0].NodePort < 30086 {
		t.Errorf("two protocols of one port share a node port: %v, taken %v, %v", svc.Spec.Ports, taken, err)
	}
	if svc, taken, err = choose(nil, port("TCP", 53, 0), port("UDP", 53, 30053)); err != nil || len(taken) != 1 || svc.Spec.Ports[0].NodePort != 30053 {
		t.Errorf("the one that is asked for serves both: %v, taken %v, %v", svc.Spec.Ports, taken, err)
	}
	if _, _, err = choose(nil, port("UDP", 53, 30001)); err == nil {
		t.Error("another protocol of another Service's port was given")
	}
	if _, taken, err = choose(svc, port("TCP", 53, 30053), port("TCP", 80, 0)); err != nil || len(taken) != 1 || taken[0] == 30053 {
		t.Errorf("an update keeps what it had: taken %v, %v", taken, err)
	}
}

// TestCarryOver: what an update leaves out of the addresses stays, each by itself.
func TestCarryOver(t *testing.T) {
	t.Parallel()
	was := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.7", ClusterIPs: []string{"10.96.0.7"}}}
	for name, c := range map[string]struct {
		ip   string
		ips  []string
		want string
		all  []string
	}{
		"both left out":     {"", nil, "10.96.0.7", []string{"10.96.0.7"}},
		"the first cleared": {"", []string{"10.96.0.7"}, "10.96.0.7", []string{"10.96.0.7"}},
		"the list cleared":  {"10.96.0.7", nil, "10.96.0.7", []string{"10.96.0.7"}},
		"the first changed": {"10.96.0.8", []string{"10.96.0.7"}, "10.96.0.8", []string{"10.96.0.8"}},
		"changed alone":     {"10.96.0.8", nil, "10.96.0.8", []string{"10.96.0.8"}},
	} {
		svc := was.DeepCopy()
		svc.Spec.ClusterIP, svc.Spec.ClusterIPs = c.ip, c.ips
		carryOver(svc, was)
		normalize(svc, was)
		if svc.Spec.ClusterIP != c.want || !slices.Equal(svc.Spec.ClusterIPs, c.all) {
			t.Errorf("%s: %s and %v", name, svc.Spec.ClusterIP, svc.Spec.ClusterIPs)
		}
	}
}
