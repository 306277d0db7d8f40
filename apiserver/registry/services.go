package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// ServicesOptions of the reservations.
type ServicesOptions struct {
	Collection *cache.Collection
	ClusterIPs netip.Prefix
	NodePorts  [2]int // both ends included
}

// Services reserves the addresses and node ports of Services, so that no two have the same. What is
// taken is read from the Services themselves at the first use; from then on it is kept here, so one
// process reserves for a store at a time.
type Services struct {
	ServicesOptions

	mu    sync.Mutex
	ready bool
	ips   map[netip.Addr]bool
	ports map[portKey]bool
}

type portKey struct {
	protocol corev1.Protocol
	port     int32
}

// NewServices makes reservations over the Services of a collection.
func NewServices(o ServicesOptions) *Services {
	return &Services{ServicesOptions: o, ips: map[netip.Addr]bool{}, ports: map[portKey]bool{}}
}

// load takes over what existing Services have. The caller holds mu.
func (s *Services) load() error {
	if s.ready {
		return nil
	}
	var failed error
	s.Collection.Snapshot().Ascend("", "", func(e *cache.Entry) bool {
		obj, err := e.Object()
		if err != nil {
			failed = err
			return false
		}
		for _, ip := range addresses(obj.(*corev1.Service)) {
			s.ips[ip] = true
		}
		for _, p := range nodePorts(obj.(*corev1.Service)) {
			s.ports[p] = true
		}
		return true
	})
	s.ready = failed == nil
	return failed
}

func addresses(s *corev1.Service) []netip.Addr {
	var out []netip.Addr
	for _, ip := range s.Spec.ClusterIPs {
		if a, err := netip.ParseAddr(ip); err == nil {
			out = append(out, a)
		}
	}
	return out
}

func nodePorts(s *corev1.Service) []portKey {
	var out []portKey
	for _, p := range s.Spec.Ports {
		if p.NodePort != 0 {
			out = append(out, portKey{p.Protocol, p.NodePort})
		}
	}
	if n := s.Spec.HealthCheckNodePort; n != 0 {
		out = append(out, portKey{corev1.ProtocolTCP, n})
	}
	return out
}

// Begin completes a Service's addresses and ports and reserves them. It is a registry.Begin.
func (s *Services) Begin(_ context.Context, obj, old resource.Object, dryRun bool) (func(bool), error) {
	svc := obj.(*corev1.Service)
	var was *corev1.Service
	if old != nil {
		was = old.(*corev1.Service)
		svc.ResourceVersion = was.ResourceVersion
		carryOver(svc, was)
	}
	normalize(svc, was)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	t := &taking{services: s, service: svc, dryRun: dryRun}
	if err := t.take(was); err != nil {
		t.giveBack()
		return nil, err
	}
	return func(written bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !written || dryRun {
			t.giveBack()
			return
		}
		if was != nil {
			s.releaseUnused(was, svc)
		}
	}, nil
}

// Release gives back what a deleted Service had.
func (s *Services) Release(obj resource.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseUnused(obj.(*corev1.Service), &corev1.Service{})
}

// releaseUnused gives back what the old one had and the new one has not. The caller holds mu.
func (s *Services) releaseUnused(old, now *corev1.Service) {
	kept, keptPorts := map[netip.Addr]bool{}, map[portKey]bool{}
	for _, ip := range addresses(now) {
		kept[ip] = true
	}
	for _, p := range nodePorts(now) {
		keptPorts[p] = true
	}
	for _, ip := range addresses(old) {
		if !kept[ip] {
			delete(s.ips, ip)
		}
	}
	for _, p := range nodePorts(old) {
		if !keptPorts[p] {
			delete(s.ports, p)
		}
	}
}

// carryOver keeps what an update leaves out: a client that read the Service long ago, or writes only what it
// wants, does not lose its address.
func carryOver(svc, was *corev1.Service) {
	if core.NeedsClusterIP(was) && core.NeedsClusterIP(svc) {
		if svc.Spec.ClusterIP == "" && len(svc.Spec.ClusterIPs) == 0 {
			svc.Spec.ClusterIP, svc.Spec.ClusterIPs = was.Spec.ClusterIP, was.Spec.ClusterIPs
		}
		if svc.Spec.IPFamilies == nil {
			svc.Spec.IPFamilies = was.Spec.IPFamilies
		}
		if svc.Spec.IPFamilyPolicy == nil {
			svc.Spec.IPFamilyPolicy = was.Spec.IPFamilyPolicy
		}
	}
	if core.NeedsClusterIP(was) && !core.NeedsClusterIP(svc) {
		dropAddresses(svc, was)
	}
	if core.NeedsNodePorts(was) && core.NeedsNodePorts(svc) {
		carryPorts(svc, was)
	}
	if core.NeedsNodePorts(was) && !core.NeedsNodePorts(svc) && samePorts(svc, was) {
		for i := range svc.Spec.Ports {
			svc.Spec.Ports[i].NodePort = 0
		}
	}
	if core.NeedsHealthCheck(was) {
		switch {
		case core.NeedsHealthCheck(svc) && svc.Spec.HealthCheckNodePort == 0:
			svc.Spec.HealthCheckNodePort = was.Spec.HealthCheckNodePort
		case !core.NeedsHealthCheck(svc) && svc.Spec.HealthCheckNodePort == was.Spec.HealthCheckNodePort:
			svc.Spec.HealthCheckNodePort = 0
		}
	}
	if was.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		svc.Spec.AllocateLoadBalancerNodePorts, svc.Spec.LoadBalancerClass = nil, nil
	}
	if svc.Spec.Type == corev1.ServiceTypeClusterIP && len(svc.Spec.ExternalIPs) == 0 && svc.Spec.ExternalTrafficPolicy == was.Spec.ExternalTrafficPolicy {
		svc.Spec.ExternalTrafficPolicy = ""
	}
}

// dropAddresses wipes what a type without an address has no use for, unless the client changed it.
func dropAddresses(svc, was *corev1.Service) {
	if svc.Spec.ClusterIP == was.Spec.ClusterIP {
		svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "", nil
	}
	svc.Spec.IPFamilies, svc.Spec.IPFamilyPolicy = nil, nil
	if ptr.Equal(svc.Spec.InternalTrafficPolicy, was.Spec.InternalTrafficPolicy) {
		svc.Spec.InternalTrafficPolicy = nil
	}
}

// carryPorts keeps the node ports of ports that stayed.
func carryPorts(svc, was *corev1.Service) {
	had := map[portKey]int32{}
	for _, p := range was.Spec.Ports {
		had[portKey{p.Protocol, p.Port}] = p.NodePort
	}
	used := map[int32]bool{}
	for _, p := range svc.Spec.Ports {
		used[p.NodePort] = true
	}
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if n := had[portKey{p.Protocol, p.Port}]; p.NodePort == 0 && n != 0 && !used[n] {
			p.NodePort = n
		}
	}
}

func samePorts(svc, was *corev1.Service) bool {
	had := map[int32]bool{}
	for _, p := range was.Spec.Ports {
		had[p.NodePort] = true
	}
	for _, p := range svc.Spec.Ports {
		if p.NodePort != 0 && !had[p.NodePort] {
			return false
		}
	}
	return true
}

// normalize keeps clusterIP, the old name of the first of clusterIPs, in step with them.
func normalize(svc, was *corev1.Service) {
	spec := &svc.Spec
	if was != nil && spec.ClusterIP != was.Spec.ClusterIP && len(spec.ClusterIPs) > 0 && len(was.Spec.ClusterIPs) > 0 && spec.ClusterIPs[0] == was.Spec.ClusterIPs[0] {
		// An old client changed only what it knows.
		spec.ClusterIPs = nil
	}
	if spec.ClusterIP != "" && len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
}

// taking is the reservations of one write; all are given back when it fails.
type taking struct {
	services *Services
	service  *corev1.Service
	dryRun   bool
	ips      []netip.Addr
	ports    []portKey
	shown    int32 // the last port that a dry run gave
}

// dryRunPort is the number below those that dry runs give.
const dryRunPort = 32768

func (t *taking) giveBack() {
	for _, ip := range t.ips {
		delete(t.services.ips, ip)
	}
	for _, p := range t.ports {
		delete(t.services.ports, p)
	}
	t.ips, t.ports = nil, nil
}

func (t *taking) take(was *corev1.Service) error {
	if was == nil {
		was = &corev1.Service{}
	}
	if core.NeedsClusterIP(t.service) {
		if err := t.chooseFamilies(); err != nil {
			return err
		}
		if err := t.takeIPs(was); err != nil {
			return err
		}
	}
	if core.NeedsNodePorts(t.service) {
		if err := t.takePorts(was); err != nil {
			return err
		}
	}
	if core.NeedsHealthCheck(t.service) {
		return t.takeHealthCheck(was)
	}
	return nil
}

func (t *taking) invalid(path *field.Path, value any, text string) error {
	return t.refuse(field.ErrorList{field.Invalid(path, value, text)})
}

func (t *taking) refuse(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), t.service.Name, errs)
}

func (t *taking) takeIPs(was *corev1.Service) error {
	spec := &t.service.Spec
	if len(spec.ClusterIPs) == 0 && t.dryRun {
		// Looking for a free one would promise something.
		ip := t.services.ClusterIPs.Masked().Addr().String()
		spec.ClusterIP, spec.ClusterIPs = ip, []string{ip}
		return nil
	}
	if len(spec.ClusterIPs) == 0 {
		ip, err := t.services.freeIP()
		if err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP: %w", err))
		}
		t.reserve(ip)
		spec.ClusterIP, spec.ClusterIPs = ip.String(), []string{ip.String()}
		return nil
	}
	had := map[netip.Addr]bool{}
	for _, ip := range addresses(was) {
		had[ip] = true
	}
	path := field.NewPath("spec", "clusterIPs")
	for i, text := range spec.ClusterIPs {
		if text == corev1.ClusterIPNone {
			continue
		}
		ip, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return t.invalid(path.Index(i), text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
		case had[ip]:
			continue
		case !t.services.ClusterIPs.Contains(ip):
			return t.invalid(path, spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, ip, t.services.ClusterIPs.Masked()))
		case t.services.ips[ip]:
			return t.invalid(path, spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: provided IP is already allocated", ip))
		}
		t.reserve(ip)
	}
	return nil
}

func (t *taking) reserve(ip netip.Addr) {
	t.services.ips[ip] = true
	t.ips = append(t.ips, ip)
}

var errRangeFull = errors.New("range is full")

// freeIP finds an address that is free: by chance, and one after the other where chance is against it.
// The first and the last of the range stay free, and so do the lower addresses while others are, for those who choose.
func (s *Services) freeIP() (netip.Addr, error) {
	size := uint64(1) << min(s.ClusterIPs.Addr().BitLen()-s.ClusterIPs.Bits(), 32)
	base := s.ClusterIPs.Masked().Addr()
	reserved := min(max(size/16, 16), 256)
	if size <= 32 {
		reserved = 1
	}
	at := func(n uint64) netip.Addr { return offset(base, n) }
	span := size - 1 - reserved
	start := rand.Uint64N(max(span, 1))
	for i := range span {
		if ip := at(reserved + (start+i)%span); !s.ips[ip] {
			return ip, nil
		}
	}
	for n := uint64(1); n < reserved; n++ {
		if ip := at(n); !s.ips[ip] {
			return ip, nil
		}
	}
	return netip.Addr{}, errRangeFull
}

// offset is the n-th address after base.
func offset(base netip.Addr, n uint64) netip.Addr {
	b := base.AsSlice()
	for i := len(b) - 1; i >= 0 && n > 0; i-- {
		sum := uint64(b[i]) + n&0xff
		b[i] = byte(sum)
		n = n>>8 + sum>>8
	}
	out, _ := netip.AddrFromSlice(b) // of the length it came from
	return out
}

func (t *taking) takePorts(was *corev1.Service) error {
	had := map[portKey]bool{}
	for _, p := range nodePorts(was) {
		had[p] = true
	}
	ports := t.service.Spec.Ports
	path := field.NewPath("spec", "ports")
	for i := range ports {
		p := &ports[i]
		k := portKey{p.Protocol, p.NodePort}
		switch {
		case p.NodePort == 0 || had[k]:
			continue
		case !t.dryRun && (int(p.NodePort) < t.services.NodePorts[0] || int(p.NodePort) > t.services.NodePorts[1]):
			// Upstream does not look at the range when nothing will be taken.
			return t.invalid(path.Index(i).Child("nodePort"), p.NodePort, fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", t.services.NodePorts[0], t.services.NodePorts[1]))
		case t.services.ports[k]:
			return t.invalid(path.Index(i).Child("nodePort"), p.NodePort, "provided port is already allocated")
		}
		t.services.ports[k] = true
		t.ports = append(t.ports, k)
	}
	for i := range ports {
		if ports[i].NodePort != 0 {
			continue
		}
		n, ok := t.freePort(ports[i].Protocol)
		if !ok {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", errRangeFull))
		}
		ports[i].NodePort = n
	}
	return nil
}

// freePort finds a port that is free; one number may serve several protocols of one Service.
func (t *taking) freePort(protocol corev1.Protocol) (int32, bool) {
	if t.dryRun {
		// Looking for a free one would promise something; it is the number after those of this Service.
		t.shown = max(t.shown, dryRunPort)
		for _, p := range t.ports {
			t.shown = max(t.shown, p.port)
		}
		t.shown++
		return t.shown, true
	}
	first, count := t.services.NodePorts[0], t.services.NodePorts[1]-t.services.NodePorts[0]+1
	start := rand.IntN(count)
	for i := range count {
		k := portKey{protocol, int32(first + (start+i)%count)}
		if !t.services.ports[k] {
			t.services.ports[k] = true
			t.ports = append(t.ports, k)
			return k.port, true
		}
	}
	return 0, false
}
