package proxy

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/knftables"
)

const (
	thisNode = "here"
	nodeIP   = "172.31.0.2"
	podHere  = "10.244.0.5"
	podThere = "10.244.1.6"
	client   = "10.244.0.9"
	outside  = "192.0.2.7"
	address  = "10.96.0.20"
)

var pods = netip.MustParsePrefix("10.244.0.0/16")

// service is a Service with one port 80 (TCP) named http, changed as the test wants.
func service(changes ...func(*corev1.Service)) *corev1.Service {
	made := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec: corev1.ServiceSpec{
			ClusterIP: address, ClusterIPs: []string{address},
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}},
		},
	}
	for _, change := range changes {
		change(made)
	}
	return made
}

type state struct{ ready, serving, terminating bool }

var (
	ready       = state{ready: true, serving: true}
	notReady    = state{}
	draining    = state{serving: true, terminating: true}
	terminating = state{terminating: true}
)

// behind is an EndpointSlice of web with one endpoint.
func behind(pod, node string, is state) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "ns", Name: "web-" + pod, Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("http"), Port: ptr.To[int32](8080), Protocol: ptr.To(corev1.ProtocolTCP)}},
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{pod}, NodeName: ptr.To(node),
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(is.ready), Serving: ptr.To(is.serving), Terminating: ptr.To(is.terminating)},
		}},
	}
}

func nodePort(service *corev1.Service) {
	service.Spec.Type = corev1.ServiceTypeNodePort
	service.Spec.Ports[0].NodePort = 30080
	service.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
}

func externalLocal(service *corev1.Service) {
	nodePort(service)
	service.Spec.ExternalIPs = []string{"198.51.100.1"}
	service.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
}

func internalLocal(service *corev1.Service) {
	service.Spec.InternalTrafficPolicy = ptr.To(corev1.ServiceInternalTrafficPolicyLocal)
}

func sticky(service *corev1.Service) {
	service.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	service.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr.To[int32](5)}}
}

// bench is a proxy on a fake nftables, which refuses what the kernel would refuse.
type bench struct {
	*tracer
	proxy *Proxy
}

func newBench(t *testing.T) *bench {
	t.Helper()
	fake := knftables.NewFake(knftables.IPv4Family, tableName)
	return &bench{
		tracer: &tracer{t: t, nft: fake, node: []string{nodeIP}, known: map[string]bool{}},
		proxy:  &Proxy{nft: fake, options: Options{NodeName: thisNode, ClusterCIDR: pods}},
	}
}

func (b *bench) apply(services []*corev1.Service, all ...*discoveryv1.EndpointSlice) {
	b.t.Helper()
	want := render(plan(thisNode, services, all), pods)
	if err := b.proxy.apply(b.t.Context(), want); err != nil {
		b.t.Fatal(err)
	}
	b.proxy.have = want
}

func TestWherePacketsGo(t *testing.T) {
	t.Parallel()
	toAddress := packet{from: client, to: address + ":80", protocol: "tcp"}
	toNodePort := packet{from: outside, to: nodeIP + ":30080", protocol: "tcp"}
	bothHere := []*discoveryv1.EndpointSlice{behind(podHere, thisNode, ready), behind(podThere, "there", ready)}
	onlyThere := []*discoveryv1.EndpointSlice{behind(podThere, "there", ready)}
	for _, test := range []struct {
		name    string
		service *corev1.Service
		slices  []*discoveryv1.EndpointSlice
		sent    packet
		want    []string
	}{
		{"a pod reaches any endpoint, with its own address", service(), bothHere, toAddress, []string{podHere + ":8080", podThere + ":8080"}},
		{"the node itself is masqueraded", service(), onlyThere, packet{nodeIP, address + ":80", "tcp"}, []string{"masqueraded " + podThere + ":8080"}},
		{"a pod that reaches itself is masqueraded", service(), bothHere[:1], packet{podHere, address + ":80", "tcp"}, []string{"masqueraded " + podHere + ":8080"}},
		{"no endpoint: rejected", service(), nil, toAddress, []string{"rejected"}},
		{"endpoints that are not ready don't count", service(), []*discoveryv1.EndpointSlice{behind(podHere, thisNode, notReady)}, toAddress, []string{"rejected"}},
		{"another port of the address: rejected", service(), bothHere, packet{client, address + ":81", "tcp"}, []string{"rejected"}},
		{"another protocol: rejected", service(), bothHere, packet{client, address + ":80", "udp"}, []string{"rejected"}},
		{"what is no Service's passes", service(), bothHere, packet{client, "10.244.1.7:80", "tcp"}, []string{"10.244.1.7:80"}},

		{"ready ones win over draining ones", service(), []*discoveryv1.EndpointSlice{behind(podHere, thisNode, draining), behind(podThere, "there", ready)}, toAddress, []string{podThere + ":8080"}},
		{"draining ones serve when none is ready", service(), []*discoveryv1.EndpointSlice{behind(podHere, thisNode, draining), behind(podThere, "there", terminating)}, toAddress, []string{podHere + ":8080"}},
		{"terminating ones that don't serve never do", service(), []*discoveryv1.EndpointSlice{behind(podHere, thisNode, terminating)}, toAddress, []string{"rejected"}},

		{"internal policy Local: only here", service(internalLocal), bothHere, toAddress, []string{podHere + ":8080"}},
		{"internal policy Local without one here: dropped", service(internalLocal), onlyThere, toAddress, []string{"dropped"}},
		{"internal policy Local without any: rejected", service(internalLocal), nil, toAddress, []string{"rejected"}},

		{"node port, policy Cluster: masqueraded", service(nodePort), bothHere, toNodePort, []string{"masqueraded " + podHere + ":8080", "masqueraded " + podThere + ":8080"}},
		{"node port without endpoints: rejected", service(nodePort), nil, toNodePort, []string{"rejected"}},
		{"node port of loopback is not ours", service(nodePort), bothHere, packet{nodeIP, "127.0.0.1:30080", "tcp"}, []string{"127.0.0.1:30080"}},
		{"node port, policy Local: client's address stays", service(externalLocal), bothHere, toNodePort, []string{podHere + ":8080"}},
		{"node port, policy Local without one here: dropped", service(externalLocal), onlyThere, toNodePort, []string{"dropped"}},
		{"node port, policy Local, from a pod: any endpoint", service(externalLocal), onlyThere, packet{client, nodeIP + ":30080", "tcp"}, []string{podThere + ":8080"}},
		{"node port, policy Local, last one here draining", service(externalLocal), []*discoveryv1.EndpointSlice{behind(podHere, thisNode, draining), behind(podThere, "there", ready)}, toNodePort, []string{podHere + ":8080"}},
		{"node port, policy Local, from the node: masqueraded", service(externalLocal), onlyThere, packet{nodeIP, nodeIP + ":30080", "tcp"}, []string{"masqueraded " + podThere + ":8080"}},
		{"external address, policy Local", service(externalLocal), bothHere, packet{outside, "198.51.100.1:80", "tcp"}, []string{podHere + ":8080"}},
		{"external policy Local leaves the cluster address alone", service(externalLocal), onlyThere, toAddress, []string{podThere + ":8080"}},
		{"external and internal policy Local apart", service(externalLocal, internalLocal), onlyThere, packet{client, nodeIP + ":30080", "tcp"}, []string{podThere + ":8080"}},

		{"affinity: any endpoint at first", service(sticky), bothHere, toAddress, []string{podHere + ":8080", podThere + ":8080"}},
		{"headless", service(func(s *corev1.Service) {
			s.Spec.ClusterIP, s.Spec.ClusterIPs = corev1.ClusterIPNone, []string{corev1.ClusterIPNone}
		}), bothHere, toAddress, []string{address + ":80"}},
		{"another proxy's", service(func(s *corev1.Service) { s.Labels = map[string]string{labelServiceProxyName: "other"} }), bothHere, toAddress, []string{address + ":80"}},
		{"a port without endpoints beside one with", service(func(s *corev1.Service) {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP})
		}), bothHere[:1], packet{client, address + ":53", "udp"}, []string{"rejected"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			bench := newBench(t)
			bench.apply([]*corev1.Service{test.service}, test.slices...)
			if diff := cmp.Diff(test.want, bench.trace(test.sent)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s\n%s", diff, bench.nft.Dump())
			}
		})
	}
}

func TestAffinityHoldsUntilTheEndpointIsNotReady(t *testing.T) {
	t.Parallel()
	bench := newBench(t)
	both := []*discoveryv1.EndpointSlice{behind(podHere, thisNode, ready), behind(podThere, "there", ready)}
	sent := packet{client, address + ":80", "tcp"}
	bench.apply([]*corev1.Service{service(sticky)}, both...)
	bench.known["affinity-ns/web/tcp/http/"+podThere+"/8080 "+client] = true
	if diff := cmp.Diff([]string{podThere + ":8080"}, bench.trace(sent)); diff != "" {
		t.Errorf("a known client (-want +got):\n%s", diff)
	}
	bench.apply([]*corev1.Service{service(sticky)}, both[0], behind(podThere, "there", notReady))
	if diff := cmp.Diff([]string{podHere + ":8080"}, bench.trace(sent)); diff != "" {
		t.Errorf("its endpoint is not ready any more (-want +got):\n%s", diff)
	}
}

// A change must leave what applying the same state to nothing would have made.
func TestChangesAddUpToTheSameTable(t *testing.T) {
	t.Parallel()
	steps := []struct {
		services []*corev1.Service
		slices   []*discoveryv1.EndpointSlice
	}{
		{nil, nil},
		{[]*corev1.Service{service(nodePort)}, nil},
		{[]*corev1.Service{service(nodePort)}, []*discoveryv1.EndpointSlice{behind(podHere, thisNode, ready)}},
		{[]*corev1.Service{service(sticky)}, []*discoveryv1.EndpointSlice{behind(podHere, thisNode, ready), behind(podThere, "there", ready)}},
		{[]*corev1.Service{service(externalLocal)}, []*discoveryv1.EndpointSlice{behind(podThere, "there", ready)}},
		{[]*corev1.Service{service()}, []*discoveryv1.EndpointSlice{behind(podThere, "there", draining)}},
		{nil, nil},
	}
	changed := newBench(t)
	for at, step := range steps {
		changed.apply(step.services, step.slices...)
		fresh := newBench(t)
		fresh.apply(step.services, step.slices...)
		if diff := cmp.Diff(content(fresh.nft), content(changed.nft)); diff != "" {
			t.Errorf("step %d (-afresh +changed):\n%s", at, diff)
		}
		// A proxy that was restarted finds what the one before left.
		changed.proxy.have = nil
		changed.apply(step.services, step.slices...)
		if diff := cmp.Diff(content(fresh.nft), content(changed.nft)); diff != "" {
			t.Errorf("step %d, after a restart (-afresh +changed):\n%s", at, diff)
		}
	}
}

// content is a dump without the order in which chains came into being.
func content(fake *knftables.Fake) map[string][]string {
	lines := map[string][]string{}
	for line := range strings.Lines(fake.Dump()) {
		words := strings.Fields(line)
		subject := strings.Join(words[:min(len(words), 5)], " ")
		lines[subject] = append(lines[subject], line)
	}
	return lines
}

func TestUnchangedIsNoTransaction(t *testing.T) {
	t.Parallel()
	bench := newBench(t)
	services, slices := []*corev1.Service{service(nodePort)}, behind(podHere, thisNode, ready)
	bench.apply(services, slices)
	tx := bench.nft.NewTransaction()
	leftover := change(tx, bench.proxy.have, render(plan(thisNode, services, []*discoveryv1.EndpointSlice{slices}), pods))
	leftover.remove(tx)
	if tx.NumOperations() != 0 {
		t.Errorf("%d operations though nothing changed:\n%s", tx.NumOperations(), tx)
	}
}

func TestStaleFlows(t *testing.T) {
	t.Parallel()
	dns := func(endpoints ...string) []servicePort {
		port := servicePort{name: "ns/dns/udp/dns", protocol: corev1.ProtocolUDP, port: 53, nodePort: 30053, internal: netip.MustParseAddr(address)}
		for _, endpoint := range endpoints {
			port.cluster = append(port.cluster, netip.MustParseAddrPort(endpoint))
		}
		return []servicePort{port}
	}
	one, other := podHere+":53", podThere+":53"
	for _, test := range []struct {
		name        string
		before, now []servicePort
		to, replier string
		want        bool
	}{
		{"nothing changed", dns(one), dns(one), address + ":53", other, false},
		{"leads to an endpoint that is gone", dns(one, other), dns(one), address + ":53", other, true},
		{"leads to one that stays", dns(one, other), dns(one), address + ":53", one, false},
		{"was not translated, as there was none", dns(), dns(one), address + ":53", address + ":53", true},
		{"its Service is gone", dns(one), nil, address + ":53", one, true},
		{"no Service's", dns(one), nil, "10.96.9.9:53", one, false},
		{"through the node port, to one that is gone", dns(one), dns(other), nodeIP + ":30053", one, true},
		{"somebody else's, on the node port's number", dns(one), dns(other), nodeIP + ":30053", nodeIP + ":30053", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stale := staleFlows(test.before, test.now)
			if got := stale.stale(netip.MustParseAddrPort(test.to), netip.MustParseAddrPort(test.replier)); got != test.want {
				t.Errorf("stale: %v, want %v", got, test.want)
			}
		})
	}
}
