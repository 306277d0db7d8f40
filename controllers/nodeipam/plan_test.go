package nodeipam

import (
	"net/netip"
	"testing"
)

func TestNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cluster string
		bits    int
		taken   []string
		from    uint64
		want    string
	}{
		"first of all":        {"10.244.0.0/16", 24, nil, 0, "10.244.0.0/24"},
		"skips what is taken": {"10.244.0.0/16", 24, []string{"10.244.0.0/24", "10.244.1.0/24"}, 0, "10.244.2.0/24"},
		"goes on from":        {"10.244.0.0/16", 24, nil, 7, "10.244.7.0/24"},
		"goes round":          {"10.0.0.0/22", 24, []string{"10.0.3.0/24"}, 3, "10.0.0.0/24"},
		"a larger taken part": {"10.0.0.0/22", 24, []string{"10.0.0.0/23"}, 0, "10.0.2.0/24"},
		"full":                {"10.0.0.0/23", 24, []string{"10.0.0.0/24", "10.0.1.0/24"}, 0, ""},
		"others don't matter": {"10.0.0.0/23", 24, []string{"192.168.0.0/16"}, 0, "10.0.0.0/24"},
		"version 6":           {"fd00:10:244::/56", 64, []string{"fd00:10:244::/64"}, 0, "fd00:10:244:1::/64"},
		"mask too short":      {"10.0.0.0/16", 8, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var taken []netip.Prefix
			for _, s := range c.taken {
				taken = append(taken, netip.MustParsePrefix(s))
			}
			got, _, ok := Next(netip.MustParsePrefix(c.cluster), c.bits, taken, c.from)
			if ok != (c.want != "") || ok && got.String() != c.want {
				t.Errorf("got %v %v, want %q", got, ok, c.want)
			}
		})
	}
}

func TestPartsDontOverlap(t *testing.T) {
	t.Parallel()
	cluster := netip.MustParsePrefix("10.244.0.0/16")
	var taken []netip.Prefix
	var from uint64
	for range 256 {
		free, next, ok := Next(cluster, 24, taken, from)
		if !ok || !cluster.Overlaps(free) || free.Bits() != 24 || overlapsAny(free, taken) {
			t.Fatalf("after %d parts: %v %v", len(taken), free, ok)
		}
		taken, from = append(taken, free), next
	}
	if _, _, ok := Next(cluster, 24, taken, from); ok {
		t.Error("a 257th part of 256")
	}
}
