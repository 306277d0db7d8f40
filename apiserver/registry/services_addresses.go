package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// addressKeeper is the label value of the addresses that are given to Services.
const addressKeeper = "ipallocator.k8s.io"

var (
	errAddressTaken  = errors.New("provided IP is already allocated")
	errNoSuchNetwork = errors.New("the provided network does not match the current range")
)

// clusterIPs gives addresses to Services. Each is an IPAddress object, of which the store has one or none, so that
// several servers never give one twice.
type clusterIPs struct {
	registry func(schema.GroupVersionResource) *Registry
	standard netip.Prefix // the server's own range
	log      *slog.Logger
}

func (c *clusterIPs) objects() *Registry {
	return c.registry(networkingv1.SchemeGroupVersion.WithResource("ipaddresses"))
}

// ranges are those that addresses may be given from: of the ServiceCIDRs that are ready and not about to go.
func (c *clusterIPs) ranges(ctx context.Context, family corev1.IPFamily) ([]netip.Prefix, error) {
	all, err := c.registry(networkingv1.SchemeGroupVersion.WithResource("servicecidrs")).All(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("list ServiceCIDRs: %w", err)
	}
	var out []netip.Prefix
	for _, obj := range all {
		cidr := obj.(*networkingv1.ServiceCIDR)
		// One of which nothing is said counts as ready: nobody may be there to say it.
		if cidr.DeletionTimestamp != nil || meta.IsStatusConditionFalse(cidr.Status.Conditions, networkingv1.ServiceCIDRConditionReady) {
			continue
		}
		for _, text := range cidr.Spec.CIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil && core.FamilyOf(prefix.Addr().String()) == family {
				out = append(out, prefix)
			}
		}
	}
	return out, nil
}

// ends are the first and the last address of a range that may be given.
func ends(prefix netip.Prefix) (first, last netip.Addr) {
	base := prefix.Masked().Addr()
	b := base.AsSlice()
	for bit := prefix.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ = netip.AddrFromSlice(b) // of the length it came from
	if base.Is4() {
		last = last.Prev()
	}
	return base.Next(), last
}

// inside says whether an address of the range may be given.
func inside(prefix netip.Prefix, ip netip.Addr) bool {
	first, last := ends(prefix)
	return prefix.Contains(ip) && !ip.Less(first) && !last.Less(ip)
}

// take gives a Service the address that it asks for.
func (c *clusterIPs) take(ctx context.Context, svc *corev1.Service, ip netip.Addr) error {
	ranges, err := c.ranges(ctx, core.FamilyOf(ip.String()))
	if err != nil {
		return err
	}
	for _, prefix := range ranges {
		if inside(prefix, ip) {
			return c.create(ctx, svc, ip)
		}
	}
	return errNoSuchNetwork
}

// takeAny gives a Service an address that is free.
func (c *clusterIPs) takeAny(ctx context.Context, svc *corev1.Service, family corev1.IPFamily) (netip.Addr, error) {
	ranges, err := c.ranges(ctx, family)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, prefix := range ranges {
		ip, err := c.takeFrom(ctx, svc, prefix)
		if err == nil || !errors.Is(err, errRangeFull) {
			return ip, err
		}
	}
	return netip.Addr{}, errRangeFull
}

func (c *clusterIPs) takeFrom(ctx context.Context, svc *corev1.Service, prefix netip.Prefix) (netip.Addr, error) {
	reg := c.objects()
	for ip := range candidates(prefix) {
		if reg.Collection().Get(reg.Resource.Key("", ip.String())) != nil {
			continue
		}
		err := c.create(ctx, svc, ip)
		if errors.Is(err, errAddressTaken) { // another server was faster
			continue
		}
		return ip, err
	}
	return netip.Addr{}, errRangeFull
}

// create makes the object of an address that a Service gets.
func (c *clusterIPs) create(ctx context.Context, svc *corev1.Service, ip netip.Addr) error {
	_, err := c.objects().Create(c.asServer(ctx), "", NewAddress(ip, svc), WriteOptions{Manager: "kube-apiserver", Options: &metav1.CreateOptions{}})
	if apierrors.IsAlreadyExists(err) {
		return errAddressTaken
	}
	return err
}

// release gives an address back. One that can't be is found by the repair later on.
func (c *clusterIPs) release(ctx context.Context, ip netip.Addr) {
	_, err := c.objects().Delete(c.asServer(ctx), "", ip.String(), &metav1.DeleteOptions{}, false)
	if err != nil && !apierrors.IsNotFound(err) {
		c.log.Warn("give back the address of a service", "address", ip, "error", err)
	}
}

// asServer is a context in which the server itself writes, whatever becomes of the request.
func (c *clusterIPs) asServer(ctx context.Context) context.Context {
	return request.WithUser(context.WithoutCancel(ctx), &request.User{Name: "system:apiserver", Groups: []string{"system:masters"}})
}

// NewAddress is the object that says that a Service has an address.
func NewAddress(ip netip.Addr, svc *corev1.Service) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Name: ip.String(), Labels: map[string]string{
			networkingv1.LabelIPAddressFamily: string(core.FamilyOf(ip.String())), networkingv1.LabelManagedBy: addressKeeper}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: svc.Namespace, Name: svc.Name}},
	}
}

// Lower addresses are left to those who choose theirs, as long as there are others (KEP-3070).
const leastReserved, mostReserved, reservedShare = 16, 256, 16

// candidates gives the addresses of a range in the order in which they are tried: from a place by chance onwards, and
// the lower ones last. Of very large ranges it gives the first part of that.
func candidates(prefix netip.Prefix) func(yield func(netip.Addr) bool) {
	first, _ := ends(prefix)
	size := uint64(1)<<min(prefix.Addr().BitLen()-prefix.Bits(), 62) - 1 // without the network's own
	if prefix.Addr().Is4() && size > 0 {
		size-- // nor the last
	}
	reserved := uint64(0)
	if size > leastReserved {
		reserved = min(max(size/reservedShare, leastReserved), mostReserved)
	}
	return func(yield func(netip.Addr) bool) {
		for _, part := range [][2]uint64{{reserved, size}, {0, reserved}} {
			count := part[1] - part[0]
			if count == 0 {
				continue
			}
			start := rand.Uint64N(count)
			for i := range count {
				if !yield(offset(first, part[0]+(start+i)%count)) {
					return
				}
			}
		}
	}
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
