package registry

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Finding is something amiss with what Services have reserved, as the event that tells of it.
type Finding struct {
	About                   runtime.Object
	Reason, Action, Message string
}

// repair is what is to be done about one address.
type repair struct {
	create, remove bool          // both: it is made anew
	again          time.Duration // look again after that; 0: no need to
	finding        *Finding
}

// world is what a judgement looks at besides its object.
type world struct {
	now     time.Time
	ranges  []netip.Prefix // of all ServiceCIDRs
	address func(name string) *networkingv1.IPAddress
	service func(namespace, name string) *corev1.Service
}

// judgeService says what is to be done about one address of a Service.
func judgeService(svc *corev1.Service, ip netip.Addr, w world) repair {
	about := func(reason, format string, args ...any) *Finding {
		return &Finding{svc, reason, "ClusterIPAllocation", fmt.Sprintf(format, args...)}
	}
	family := "IPv4"
	if ip.Is6() {
		family = "IPv6"
	}
	if !slices.ContainsFunc(w.ranges, func(p netip.Prefix) bool { return inside(p, ip) }) {
		return repair{finding: about("ClusterIPOutOfRange", "Cluster IP [%s]: %s is not within any configured Service CIDR; please recreate service", family, ip)}
	}
	address := w.address(ip.String())
	if address == nil {
		return repair{create: true, finding: about("ClusterIPNotAllocated", "Cluster IP [%s]: %s is not allocated; repairing", family, ip)}
	}
	wrong := repair{create: true, remove: true,
		finding: about("ClusterIPNotAllocated", "the ClusterIP [%s]: %s for Service %s/%s has a wrong reference; repairing", family, ip, svc.Namespace, svc.Name)}
	parent := address.Spec.ParentRef
	if !ofService(parent) {
		return wrong
	}
	if parent.Namespace != svc.Namespace || parent.Name != svc.Name {
		other := w.service(parent.Namespace, parent.Name)
		if other == nil {
			return wrong
		}
		if slices.Contains(other.Spec.ClusterIPs, address.Name) {
			return repair{finding: about("ClusterIPAlreadyAllocated", "Cluster IP [%s]:%s was assigned to multiple services; please recreate service", family, ip)}
		}
	}
	if address.Labels[networkingv1.LabelManagedBy] != addressKeeper || address.Labels[networkingv1.LabelIPAddressFamily] != family {
		return repair{create: true, remove: true}
	}
	return repair{}
}

func ofService(p *networkingv1.ParentReference) bool {
	return p != nil && p.Group == "" && p.Resource == "services"
}

// A Service is written after its addresses: they may wait for it as long as a request may take. An address that came
// after its Service may be of a creation that fails because of that.
const (
	creationGrace = 60 * time.Second
	revertGrace   = 5 * time.Second
)

// judgeAddress says what is to be done about an address. Those that others keep are none of ours.
func judgeAddress(a *networkingv1.IPAddress, w world) repair {
	if a.Labels[networkingv1.LabelManagedBy] != addressKeeper {
		return repair{}
	}
	about := func(reason, format string, args ...any) *Finding {
		return &Finding{a, reason, "IPAddressAllocation", fmt.Sprintf(format, args...)}
	}
	parent := a.Spec.ParentRef
	if !ofService(parent) {
		return repair{remove: true, finding: about("IPAddressNotAllocated", "IPAddress %s appears to have been modified, not referencing a Service %v: cleaning up", a.Name, parent)}
	}
	age := w.now.Sub(a.CreationTimestamp.Time)
	svc := w.service(parent.Namespace, parent.Name)
	switch {
	case svc == nil && age > creationGrace:
		return repair{remove: true, finding: about("IPAddressNotAllocated", "IPAddress: %s for Service %s/%s appears to have leaked: cleaning up", a.Name, parent.Namespace, parent.Name)}
	case svc == nil:
		return repair{again: creationGrace - age + time.Second}
	case slices.Contains(svc.Spec.ClusterIPs, a.Name):
		return repair{}
	case svc.Spec.Type == corev1.ServiceTypeExternalName && age < creationGrace:
		return repair{again: creationGrace - age + time.Second} // about to get it
	case a.CreationTimestamp.After(svc.CreationTimestamp.Time) && age < revertGrace:
		return repair{again: revertGrace}
	}
	return repair{remove: true, finding: about("IPAddressWrongReference", "IPAddress: %s for Service %s/%s has a wrong reference; cleaning up", a.Name, svc.Namespace, svc.Name)}
}

// RepairService makes sure that a Service's addresses are its own. It gives what was amiss.
func (s *Services) RepairService(ctx context.Context, svc *corev1.Service, now time.Time) ([]Finding, error) {
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return nil, nil
	}
	var findings []Finding
	for _, ip := range addresses(svc) {
		w, err := s.world(ctx, now)
		if err != nil {
			return findings, err
		}
		r := judgeService(svc, ip, w)
		if r.finding != nil {
			findings = append(findings, *r.finding)
		}
		if r.remove {
			s.addresses.release(ctx, ip)
		}
		if r.create {
			if err := s.addresses.create(ctx, svc, ip); err != nil && !errors.Is(err, errAddressTaken) {
				return findings, fmt.Errorf("reserve address %s of service %s/%s: %w", ip, svc.Namespace, svc.Name, err)
			}
		}
	}
	return findings, nil
}

// RepairAddress gives back an address that no Service has. It may say after how long it is to be asked again.
func (s *Services) RepairAddress(ctx context.Context, a *networkingv1.IPAddress, now time.Time) ([]Finding, time.Duration, error) {
	w, err := s.world(ctx, now)
	if err != nil {
		return nil, 0, err
	}
	r := judgeAddress(a, w)
	if r.remove {
		if ip, err := netip.ParseAddr(a.Name); err == nil {
			s.addresses.release(ctx, ip)
		}
	}
	if r.finding == nil {
		return nil, r.again, nil
	}
	return []Finding{*r.finding}, r.again, nil
}

// world is what there is, as far as this server knows.
func (s *Services) world(ctx context.Context, now time.Time) (world, error) {
	w := world{now: now}
	cidrs, err := s.Registry(networkingv1.SchemeGroupVersion.WithResource("servicecidrs")).All(ctx, "")
	if err != nil {
		return w, fmt.Errorf("list ServiceCIDRs: %w", err)
	}
	for _, obj := range cidrs {
		for _, text := range obj.(*networkingv1.ServiceCIDR).Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil {
				w.ranges = append(w.ranges, p)
			}
		}
	}
	w.address = func(name string) *networkingv1.IPAddress {
		a, _ := s.seen(ctx, s.addresses.objects(), "", name).(*networkingv1.IPAddress)
		return a
	}
	w.service = func(namespace, name string) *corev1.Service {
		svc, _ := s.seen(ctx, s.Registry(corev1.SchemeGroupVersion.WithResource("services")), namespace, name).(*corev1.Service)
		return svc
	}
	return w, nil
}

// seen is an object as the cache has it; nil when it isn't there or can't be read, which the store's other readers tell.
func (s *Services) seen(ctx context.Context, reg *Registry, namespace, name string) resource.Object {
	result, err := reg.Get(ctx, namespace, name, "0")
	if err == nil {
		var obj resource.Object
		if obj, err = reg.Object(result); err == nil {
			return obj
		}
	}
	if !apierrors.IsNotFound(err) {
		s.Logger.Warn("read what an address belongs to", "namespace", namespace, "name", name, "error", err)
	}
	return nil
}
