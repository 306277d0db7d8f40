package registry

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// ServicesOptions of the reservations.
type ServicesOptions struct {
	// Registry gives those of ServiceCIDRs and IPAddresses.
	Registry   func(schema.GroupVersionResource) *Registry
	Store      *store.Store
	ClusterIPs netip.Prefix
	NodePorts  [2]int // both ends included
	Logger     *slog.Logger
}

// Services reserves the addresses and node ports of Services, so that no two have the same. What is taken stands in the
// store, where other servers see it: addresses as IPAddress objects, ports in one set.
type Services struct {
	ServicesOptions
	addresses *clusterIPs
	ports     *nodePorts
	leaks     map[int]int // rounds of repair that a port without a Service has left
}

// NewServices makes reservations in a store.
func NewServices(o ServicesOptions) *Services {
	return &Services{
		ServicesOptions: o,
		addresses:       &clusterIPs{registry: o.Registry, log: o.Logger},
		ports:           &nodePorts{store: o.Store, first: o.NodePorts[0], last: o.NodePorts[1]},
		leaks:           map[int]int{},
	}
}

// addresses are those that a Service has.
func addresses(s *corev1.Service) []netip.Addr {
	var out []netip.Addr
	for _, ip := range s.Spec.ClusterIPs {
		if a, err := netip.ParseAddr(ip); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// portNumbers are the node ports that a Service has, each once.
func portNumbers(s *corev1.Service) []int {
	var out []int
	add := func(n int32) {
		if n != 0 && !slices.Contains(out, int(n)) {
			out = append(out, int(n))
		}
	}
	for _, p := range s.Spec.Ports {
		add(p.NodePort)
	}
	add(s.Spec.HealthCheckNodePort)
	return out
}

// Begin completes a Service's addresses and ports and reserves them. It is a registry.Begin.
func (s *Services) Begin(ctx context.Context, obj, old resource.Object, dryRun bool) (func(bool), error) {
	svc := obj.(*corev1.Service)
	var was *corev1.Service
	if old != nil {
		was = old.(*corev1.Service)
		svc.ResourceVersion = was.ResourceVersion
		carryOver(svc, was)
	}
	normalize(svc, was)
	t := &taking{services: s, service: svc, dryRun: dryRun}
	if err := t.take(ctx, was); err != nil {
		t.giveBack(ctx)
		return nil, err
	}
	return func(written bool) {
		switch {
		case !written:
			t.giveBack(ctx)
		case was != nil:
			s.releaseUnused(ctx, was, svc)
		}
	}, nil
}

// Release gives back what a deleted Service had.
func (s *Services) Release(obj resource.Object) {
	s.releaseUnused(context.Background(), obj.(*corev1.Service), &corev1.Service{})
}

// releaseUnused gives back what the old one had and the new one has not.
func (s *Services) releaseUnused(ctx context.Context, old, now *corev1.Service) {
	kept, keptPorts := addresses(now), portNumbers(now)
	for _, ip := range addresses(old) {
		if !slices.Contains(kept, ip) {
			s.addresses.release(ctx, ip)
		}
	}
	s.releasePorts(ctx, slices.DeleteFunc(portNumbers(old), func(n int) bool { return slices.Contains(keptPorts, n) }))
}

// releasePorts gives ports back. Those that can't be are found by the repair later on.
func (s *Services) releasePorts(ctx context.Context, ports []int) {
	if len(ports) == 0 {
		return
	}
	err := s.ports.change(context.WithoutCancel(ctx), func(set *portSet) error {
		for _, n := range ports {
			set.release(n)
		}
		return nil
	})
	if err != nil {
		s.Logger.Warn("give back the node ports of a service", "ports", ports, "error", err)
	}
}
