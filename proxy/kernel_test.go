package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/knftables"

	"github.com/kogge-dev/kogge/internal/netns"
)

// lab is a node with two pods, each a network namespace made for the test, and a proxy that programs the kernel.
type lab struct {
	t        *testing.T
	node     netns.Namespace
	podSpace map[string]netns.Namespace
	proxy    *Proxy
}

const otherPod = "10.244.0.6"

func newLab(t *testing.T) *lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root: run the tests as root")
	}
	made := &lab{t: t, podSpace: map[string]netns.Namespace{}}
	made.node = made.namespace("node", func() error {
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
			return err
		}
		// The node's own address, and a way for what it sends to the Services' range.
		if err := addLink("lo", nodeIP+"/32"); err != nil {
			return err
		}
		return addRoute("10.96.0.0/16", "lo")
	})
	for at, pod := range []string{podHere, otherPod} {
		made.addPod(pod, "pod"+string(rune('a'+at)))
	}
	err := made.node.Do(func() error {
		nft, err := knftables.New(knftables.IPv4Family, tableName)
		made.proxy = &Proxy{nft: nft, options: Options{NodeName: thisNode, ClusterCIDR: pods}}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (l *lab) namespace(name string, setup func() error) netns.Namespace {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	made, err := netns.Create(path, setup)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := netns.Remove(path); err != nil {
			l.t.Error(err)
		}
	})
	return made
}

// addPod makes a pod's namespace and its link to the node, as the ptp plugin does: the node is its gateway.
func (l *lab) addPod(address, link string) {
	l.t.Helper()
	l.podSpace[address] = l.namespace(link, func() error { return addLink("lo", "") })
	inside, err := os.Open(l.podSpace[address].Path())
	if err != nil {
		l.t.Fatal(err)
	}
	defer inside.Close()
	err = l.node.Do(func() error {
		cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: link}, PeerName: "eth0", PeerNamespace: netlink.NsFd(int(inside.Fd()))}
		if err := netlink.LinkAdd(cable); err != nil {
			return err
		}
		if err := addLink(link, "10.244.0.1/32"); err != nil {
			return err
		}
		return addRoute(address+"/32", link)
	})
	if err == nil {
		err = l.podSpace[address].Do(func() error {
			if err := addLink("eth0", address+"/32"); err != nil {
				return err
			}
			if err := addRoute("10.244.0.1/32", "eth0"); err != nil {
				return err
			}
			return netlink.RouteAdd(&netlink.Route{Gw: net.ParseIP("10.244.0.1")})
		})
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// addLink gives a link an address, if there is one, and brings it up.
func addLink(name, address string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	if address != "" {
		parsed, err := netlink.ParseAddr(address)
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(link, parsed); err != nil {
			return err
		}
	}
	return netlink.LinkSetUp(link)
}

func addRoute(to, through string) error {
	link, err := netlink.LinkByName(through)
	if err != nil {
		return err
	}
	_, network, err := net.ParseCIDR(to)
	if err != nil {
		return err
	}
	return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: network, Scope: netlink.SCOPE_LINK})
}

func (l *lab) apply(services []*corev1.Service, all ...*discoveryv1.EndpointSlice) {
	l.t.Helper()
	ports := plan(thisNode, services, all)
	want := render(ports, pods)
	err := l.node.Do(func() error {
		if err := l.proxy.apply(l.t.Context(), want); err != nil {
			return err
		}
		return staleFlows(l.proxy.ports, ports).forget()
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.proxy.have, l.proxy.ports = want, ports
}

// serve answers each connection to a pod's port 8080 with the pod's address and the client's.
func (l *lab) serve(pod string) {
	l.t.Helper()
	listener, err := l.podSpace[pod].Listen(l.t.Context(), "tcp", pod+":8080")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			client := connection.RemoteAddr().(*net.TCPAddr).IP.String()
			if _, err := io.WriteString(connection, pod+" saw "+client); err != nil {
				l.t.Error(err)
			}
			connection.Close()
		}
	}()
}

// ask connects from a namespace and returns what it is told.
func (l *lab) ask(from netns.Namespace, to string) (string, error) {
	ctx, cancel := context.WithTimeout(l.t.Context(), 5*time.Second)
	defer cancel()
	connection, err := from.DialContext(ctx, "tcp", to)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	answer, err := io.ReadAll(connection)
	return string(answer), err
}

func (l *lab) mustAsk(from netns.Namespace, to, want string) {
	l.t.Helper()
	got, err := l.ask(from, to)
	if err != nil || got != want {
		l.t.Errorf("%s answered %q, %v, want %q", to, got, err, want)
	}
}

// Packets through the kernel: what the traced tests say of the rules holds for what nft makes of them.
func TestKernel(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	lab.serve(podHere)
	lab.serve(otherPod)
	lab.apply(nil)
	services := []*corev1.Service{service(nodePort)}
	one, other := behind(podHere, thisNode, ready), behind(otherPod, thisNode, ready)
	service := address + ":80"

	lab.apply(services)
	if _, err := lab.ask(lab.podSpace[otherPod], service); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without endpoints: %v, want that the connection is refused", err)
	}
	lab.apply(services, one)
	lab.mustAsk(lab.podSpace[otherPod], service, podHere+" saw "+otherPod)
	if got, err := lab.ask(lab.node, service); err != nil || !strings.HasPrefix(got, podHere+" saw ") {
		t.Errorf("from the node: %q, %v", got, err)
	}
	if got, err := lab.ask(lab.podSpace[podHere], service); err != nil || got != podHere+" saw 10.244.0.1" {
		t.Errorf("hairpin: %q, %v, want the node's address as the client's", got, err)
	}
	lab.mustAsk(lab.podSpace[otherPod], nodeIP+":30080", podHere+" saw 10.244.0.1")
	if _, err := lab.ask(lab.podSpace[otherPod], address+":81"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("another port: %v, want that the connection is refused", err)
	}

	// Both are used, and after a restart of the proxy as well.
	lab.proxy.have = nil
	lab.apply(services, one, other)
	answers := map[string]bool{}
	for range 64 {
		answer, err := lab.ask(lab.node, service)
		if err != nil {
			t.Fatal(err)
		}
		answers[strings.Fields(answer)[0]] = true
	}
	if len(answers) != 2 {
		t.Errorf("64 connections reached %v only", answers)
	}
	lab.apply(nil)
	lab.apply(services, other)
	lab.mustAsk(lab.podSpace[podHere], service, otherPod+" saw "+podHere)
}

func TestKernelAffinity(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	lab.serve(podHere)
	lab.serve(otherPod)
	services := []*corev1.Service{service(sticky)}
	one, other := behind(podHere, thisNode, ready), behind(otherPod, thisNode, ready)
	lab.apply(services, one, other)
	first, err := lab.ask(lab.node, address+":80")
	if err != nil {
		t.Fatal(err)
	}
	for range 32 {
		lab.mustAsk(lab.node, address+":80", first)
		// A restarted proxy must not send the client elsewhere.
		lab.proxy.have = nil
		lab.apply(services, one, other)
	}
}

// A client that keeps sending from one port must reach the endpoint that came later, though the kernel remembers
// where its first packets went.
func TestKernelForgetsUDPFlows(t *testing.T) {
	t.Parallel()
	lab := newLab(t)
	udp := service(func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP })
	slice := func(pod string) *discoveryv1.EndpointSlice {
		made := behind(pod, thisNode, ready)
		made.Ports[0].Protocol = ptr.To(corev1.ProtocolUDP)
		return made
	}
	received := make(chan string, 16)
	for _, pod := range []string{podHere, otherPod} {
		var socket *net.UDPConn
		err := lab.podSpace[pod].Do(func() error {
			var err error
			socket, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(pod+":8080")))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { socket.Close() })
		go func() {
			for {
				if _, _, err := socket.ReadFromUDP(make([]byte, 16)); err != nil {
					return
				}
				received <- pod
			}
		}()
	}
	lab.apply([]*corev1.Service{udp}, slice(podHere))
	connection, err := lab.node.DialContext(t.Context(), "udp", address+":80")
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	for _, pod := range []string{podHere, otherPod} {
		lab.apply([]*corev1.Service{udp}, slice(pod))
		if _, err := connection.Write([]byte("k")); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-received:
			if got != pod {
				t.Errorf("the packet reached %s, want %s", got, pod)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no packet reached %s", pod)
		}
	}
}
