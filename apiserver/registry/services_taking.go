package registry

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// taking is the reservations of one write; all are given back when it fails.
type taking struct {
	services *Services
	service  *corev1.Service
	dryRun   bool
	ips      []netip.Addr
	ports    []int
}

// giveBack undoes the reservations. A dry run has none.
func (t *taking) giveBack(ctx context.Context) {
	if t.dryRun {
		return
	}
	for _, ip := range t.ips {
		t.services.addresses.release(ctx, ip)
	}
	t.services.releasePorts(ctx, t.ports)
	t.ips, t.ports = nil, nil
}

func (t *taking) take(ctx context.Context, was *corev1.Service) error {
	created := was == nil
	if created {
		was = &corev1.Service{}
	}
	if core.NeedsClusterIP(t.service) {
		if err := t.chooseFamilies(); err != nil {
			return err
		}
		if err := t.takeIPs(ctx, was); err != nil {
			return err
		}
	}
	if !t.wantsPorts(was) {
		return nil
	}
	before := t.service.Spec.DeepCopy()
	choose := func(set *portSet) error {
		t.service.Spec = *before.DeepCopy() // another server may have been faster the time before
		c := &portChoice{service: t.service, taken: set, dryRun: t.dryRun}
		err := c.choose(was, created)
		t.ports = c.ports
		return err
	}
	if t.dryRun {
		set, err := t.services.ports.look(ctx)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		return choose(set)
	}
	err := t.services.ports.change(ctx, choose)
	if err != nil {
		t.ports = nil // nothing was stored
	}
	var status apierrors.APIStatus
	if err != nil && !errors.As(err, &status) {
		return apierrors.NewInternalError(err)
	}
	return err
}

// wantsPorts says whether the write may need a port that the Service has not: else the set needs no look.
func (t *taking) wantsPorts(was *corev1.Service) bool {
	if core.NeedsHealthCheck(t.service) && !core.NeedsHealthCheck(was) {
		return true
	}
	had := portNumbers(was)
	return core.NeedsNodePorts(t.service) && slices.ContainsFunc(t.service.Spec.Ports, func(p corev1.ServicePort) bool {
		return !slices.Contains(had, int(p.NodePort))
	})
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

func (t *taking) takeIPs(ctx context.Context, was *corev1.Service) error {
	spec := &t.service.Spec
	if len(spec.ClusterIPs) == 0 {
		ip := t.services.ClusterIPs.Masked().Addr() // what a dry run shows: looking for a free one would promise something
		if !t.dryRun {
			var err error
			if ip, err = t.anyIP(ctx); err != nil {
				return err
			}
			t.ips = append(t.ips, ip)
		}
		spec.ClusterIP, spec.ClusterIPs = ip.String(), []string{ip.String()}
		return nil
	}
	had := addresses(was)
	path := field.NewPath("spec", "clusterIPs")
	for i, text := range spec.ClusterIPs {
		if text == corev1.ClusterIPNone {
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return t.invalid(path.Index(i), text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
		}
		if slices.Contains(had, ip) {
			continue
		}
		if err := t.thisIP(ctx, ip); err != nil {
			return t.invalid(path, spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: %v", ip, err))
		}
	}
	return nil
}

// thisIP reserves the address that was asked for. A dry run looks at the range alone.
func (t *taking) thisIP(ctx context.Context, ip netip.Addr) error {
	if t.dryRun {
		if prefix := t.services.ClusterIPs.Masked(); !inside(prefix, ip) {
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, prefix)
		}
		return nil
	}
	if err := t.services.addresses.take(ctx, t.service, ip); err != nil {
		return err
	}
	t.ips = append(t.ips, ip)
	return nil
}

func (t *taking) anyIP(ctx context.Context) (netip.Addr, error) {
	ip, err := t.services.addresses.takeAny(ctx, t.service, core.FamilyOf(t.services.ClusterIPs.Addr().String()))
	switch {
	case errors.Is(err, errRangeFull):
		return ip, apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", t.service.Name, err))
	case err != nil:
		return ip, t.invalid(field.NewPath("spec", "clusterIPs"), t.service.Spec.ClusterIPs, fmt.Sprintf("failed to allocate IP: %v", err))
	}
	return ip, nil
}
