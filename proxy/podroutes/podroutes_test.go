package podroutes

import (
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/internal/netns"
)

func node(name, pods, address string) *corev1.Node {
	made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{PodCIDR: pods}}
	if address != "" {
		made.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeHostName, Address: name}, {Type: corev1.NodeInternalIP, Address: address},
		}
	}
	return made
}

func to(pods, gateway string) route {
	return route{pods: netip.MustParsePrefix(pods), gateway: netip.MustParseAddr(gateway)}
}

var compareRoutes = cmp.AllowUnexported(route{})
var compareAddresses = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })
var comparePrefixes = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

func TestPlan(t *testing.T) {
	t.Parallel()
	nodes := []*corev1.Node{
		node("c", "10.244.2.0/24", "172.31.0.4"),
		node("a", "10.244.0.0/24", "172.31.0.2"),
		node("b", "10.244.1.0/24", "172.31.0.3"),
		node("no-range-yet", "", "172.31.0.5"),
		node("no-address-yet", "10.244.3.0/24", ""),
	}
	want := []route{to("10.244.1.0/24", "172.31.0.3"), to("10.244.2.0/24", "172.31.0.4")}
	if diff := cmp.Diff(want, plan("a", nodes), compareRoutes, compareAddresses, comparePrefixes); diff != "" {
		t.Errorf("routes of node a (-want +got):\n%s", diff)
	}
	if got := len(plan("", nodes)); got != 3 {
		t.Errorf("%d routes where no node is one's own, want 3", got)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	have := []route{to("10.244.1.0/24", "172.31.0.3"), to("10.244.2.0/24", "172.31.0.4"), to("10.244.3.0/24", "172.31.0.5")}
	want := []route{to("10.244.1.0/24", "172.31.0.3"), to("10.244.2.0/24", "172.31.0.9")}
	set, remove := difference(have, want)
	if diff := cmp.Diff([]route{to("10.244.2.0/24", "172.31.0.9")}, set, compareRoutes, compareAddresses, comparePrefixes); diff != "" {
		t.Errorf("to set (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]route{to("10.244.3.0/24", "172.31.0.5")}, remove, compareRoutes, compareAddresses, comparePrefixes); diff != "" {
		t.Errorf("to remove (-want +got):\n%s", diff)
	}
}

func TestConfigIsWrittenOnceAndReplaced(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "net.d")
	subnet := func() string {
		content, err := os.ReadFile(filepath.Join(directory, configName))
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Plugins []struct {
				IPAM struct{ Ranges [][]struct{ Subnet string } }
			}
		}
		if err := json.Unmarshal(content, &read); err != nil {
			t.Fatal(err)
		}
		return read.Plugins[0].IPAM.Ranges[0][0].Subnet
	}
	for _, pods := range []string{"10.244.7.0/24", "10.244.7.0/24", "10.244.8.0/24"} {
		if err := writeConfig(directory, netip.MustParsePrefix(pods)); err != nil {
			t.Fatal(err)
		}
		if got := subnet(); got != pods {
			t.Errorf("subnet %s, want %s", got, pods)
		}
	}
}

// The kernel's own table, in a namespace made for it: foreign routes stay, ours follow the plan.
func TestApply(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Fatal("routes need root: run the tests as root")
	}
	path := filepath.Join(t.TempDir(), "netns")
	namespace, err := netns.Create(path, func() error {
		link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "peer"}
		if err := netlink.LinkAdd(link); err != nil {
			return err
		}
		address, err := netlink.ParseAddr("172.31.0.2/16")
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(link, address); err != nil {
			return err
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
		_, foreign, err := net.ParseCIDR("10.96.0.0/16")
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{Dst: foreign, Gw: net.ParseIP("172.31.0.1")})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netns.Remove(path); err != nil {
			t.Error(err)
		}
	})
	for _, want := range [][]route{
		{to("10.244.1.0/24", "172.31.0.3"), to("10.244.2.0/24", "172.31.0.4")},
		{to("10.244.1.0/24", "172.31.0.9")},
		nil,
	} {
		var got []route
		var all []netlink.Route
		err := namespace.Do(func() error {
			if err := apply(want); err != nil {
				return err
			}
			if got, err = observe(); err != nil {
				return err
			}
			all, err = netlink.RouteList(nil, netlink.FAMILY_V4)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compareRoutes, compareAddresses, comparePrefixes); diff != "" {
			t.Errorf("routes (-want +got):\n%s", diff)
		}
		// The link's own, the foreign one, and ours.
		if len(all) != 2+len(want) {
			t.Errorf("%d routes in all, want %d: %v", len(all), 2+len(want), all)
		}
	}
}
