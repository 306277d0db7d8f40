package registry

import (
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func serviceAt(name string, ips ...string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.NewTime(noon)}, Spec: corev1.ServiceSpec{ClusterIPs: ips}}
}

func addressOf(svc string, age time.Duration, change func(*networkingv1.IPAddress)) *networkingv1.IPAddress {
	a := NewAddress(netip.MustParseAddr("10.96.0.7"), serviceAt(svc))
	a.CreationTimestamp = metav1.NewTime(noon.Add(-age))
	if change != nil {
		change(a)
	}
	return a
}

func worldOf(address *networkingv1.IPAddress, services ...*corev1.Service) world {
	return world{now: noon, ranges: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/24")},
		address: func(string) *networkingv1.IPAddress { return address },
		service: func(_, name string) *corev1.Service {
			for _, s := range services {
				if s.Name == name {
					return s
				}
			}
			return nil
		}}
}

func TestJudgeService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		ip             string
		world          world
		create, remove bool
		reason         string
	}{
		{"its own", "10.96.0.7", worldOf(addressOf("s", 0, nil)), false, false, ""},
		{"no object", "10.96.0.7", worldOf(nil), true, false, "ClusterIPNotAllocated"},
		{"in no range", "10.97.0.7", worldOf(nil), false, false, "ClusterIPOutOfRange"},
		{"the network's own", "10.96.0.0", worldOf(nil), false, false, "ClusterIPOutOfRange"},
		{"of a gateway", "10.96.0.7", worldOf(addressOf("s", 0, func(a *networkingv1.IPAddress) { a.Spec.ParentRef.Resource = "gateways" })), true, true, "ClusterIPNotAllocated"},
		{"of one that is gone", "10.96.0.7", worldOf(addressOf("gone", 0, nil)), true, true, "ClusterIPNotAllocated"},
		{"of another that has it", "10.96.0.7", worldOf(addressOf("o", 0, nil), serviceAt("o", "10.96.0.7")), false, false, "ClusterIPAlreadyAllocated"},
		{"without labels", "10.96.0.7", worldOf(addressOf("s", 0, func(a *networkingv1.IPAddress) { a.Labels = nil })), true, true, ""},
	} {
		r := judgeService(serviceAt("s", c.ip), netip.MustParseAddr(c.ip), c.world)
		reason := ""
		if r.finding != nil {
			reason = r.finding.Reason
		}
		if r.create != c.create || r.remove != c.remove || reason != c.reason {
			t.Errorf("%s: create %v, remove %v, reason %q", c.name, r.create, r.remove, reason)
		}
	}
}

func TestJudgeAddress(t *testing.T) {
	t.Parallel()
	external := serviceAt("s")
	external.Spec.Type = corev1.ServiceTypeExternalName
	old := serviceAt("s", "10.96.0.8")
	old.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
	for _, c := range []struct {
		name    string
		address *networkingv1.IPAddress
		world   world
		remove  bool
		again   time.Duration
		reason  string
	}{
		{"its Service has it", addressOf("s", time.Hour, nil), worldOf(nil, serviceAt("s", "10.96.0.7")), false, 0, ""},
		{"somebody else's", addressOf("s", time.Hour, func(a *networkingv1.IPAddress) { a.Labels = nil }), worldOf(nil), false, 0, ""},
		{"not of a Service", addressOf("s", 0, func(a *networkingv1.IPAddress) { a.Spec.ParentRef.Resource = "gateways" }), worldOf(nil), true, 0, "IPAddressNotAllocated"},
		{"its Service may come", addressOf("s", 10*time.Second, nil), worldOf(nil), false, 51 * time.Second, ""},
		{"its Service never came", addressOf("s", 61*time.Second, nil), worldOf(nil), true, 0, "IPAddressNotAllocated"},
		{"its Service has another", addressOf("s", time.Minute, nil), worldOf(nil, old), true, 0, "IPAddressWrongReference"},
		{"its Service has another, as yet", addressOf("s", 2*time.Second, nil), worldOf(nil, old), false, 5 * time.Second, ""},
		{"its Service is about to have one", addressOf("s", 20*time.Second, nil), worldOf(nil, external), false, 41 * time.Second, ""},
	} {
		r := judgeAddress(c.address, c.world)
		reason := ""
		if r.finding != nil {
			reason = r.finding.Reason
		}
		if r.create || r.remove != c.remove || r.again != c.again || reason != c.reason {
			t.Errorf("%s: remove %v, again after %v, reason %q", c.name, r.remove, r.again, reason)
		}
	}
}

func TestRebuiltPorts(t *testing.T) {
	t.Parallel()
	with := func(name string, ports ...int32) resource.Object {
		s := serviceAt(name)
		for _, n := range ports {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{NodePort: n})
		}
		return s
	}
	stored := &portSet{first: 30000, last: 30099}
	for _, n := range []int{30001, 30002, 30009} {
		if err := stored.take(n); err != nil {
			t.Fatal(err)
		}
	}
	services := []resource.Object{with("a", 30001, 30003), with("b", 30003, 29000, 30002, 30002)}
	leaks, reasons := map[int]int{}, ""
	set := stored
	for round := range leakRounds + 1 {
		var findings []Finding
		set, leaks, findings = rebuilt(set, services, leaks)
		if round == 0 {
			for _, f := range findings {
				reasons += f.Reason + " "
			}
		}
		if leaked := set.has(30009); leaked != (round < leakRounds-1) {
			t.Errorf("round %d: the port that no Service has is taken: %v", round, leaked)
		}
	}
	if want := "PortNotAllocated PortAlreadyAllocated PortOutOfRange "; reasons != want {
		t.Errorf("found %q, want %q", reasons, want)
	}
	if !set.has(30001) || !set.has(30002) || !set.has(30003) {
		t.Error("what Services have is taken")
	}
}
