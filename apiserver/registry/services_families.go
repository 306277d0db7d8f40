package registry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// chooseFamilies settles which families of addresses a Service has. The cluster has one; only a headless Service that selects nothing, whose
// endpoints someone else writes, may have both all the same.
func (t *taking) chooseFamilies() error {
	spec := &t.service.Spec
	free := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	if spec.IPFamilyPolicy == nil {
		spec.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicySingleStack)
		if free {
			spec.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicyRequireDualStack)
		}
	}
	if err := t.refuse(core.ValidateAddresses(t.service)); err != nil {
		return err
	}
	own := core.FamilyOf(t.services.ClusterIPs.Addr().String())
	if err := t.refuse(t.judgeFamilies(own)); err != nil {
		return err
	}
	single := *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	if free {
		if len(spec.IPFamilies) == 0 {
			spec.IPFamilies = []corev1.IPFamily{own}
		}
		if len(spec.IPFamilies) == 1 && !single {
			spec.IPFamilies = append(spec.IPFamilies, otherFamily(spec.IPFamilies[0]))
		}
		return nil
	}
	if err := t.refuse(t.judgeStacks(own)); err != nil {
		return err
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{own}
	}
	return nil
}

// judgeFamilies judges how many addresses and families there are, and completes families from addresses.
func (t *taking) judgeFamilies(own corev1.IPFamily) field.ErrorList {
	spec := &t.service.Spec
	var errs field.ErrorList
	if *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack {
		policy := field.NewPath("spec", "ipFamilyPolicy")
		if len(spec.ClusterIPs) == 2 {
			errs = append(errs, field.Invalid(policy, spec.IPFamilyPolicy, "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"))
		}
		if len(spec.IPFamilies) == 2 {
			errs = append(errs, field.Invalid(policy, spec.IPFamilyPolicy, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"))
		}
	}
	for i, ip := range spec.ClusterIPs {
		if ip == corev1.ClusterIPNone {
			break
		}
		if i < len(spec.IPFamilies) {
			continue
		}
		if f := core.FamilyOf(ip); f != own {
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs").Index(i), spec.ClusterIPs, fmt.Sprintf("%s is not configured on this cluster", f)))
		} else {
			spec.IPFamilies = append(spec.IPFamilies, f)
		}
	}
	return errs
}

// judgeStacks refuses what the cluster has not.
func (t *taking) judgeStacks(own corev1.IPFamily) field.ErrorList {
	spec := &t.service.Spec
	var errs field.ErrorList
	if *spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, f := range spec.IPFamilies {
		if f != own {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), f, "not configured on this cluster"))
		}
	}
	return errs
}

func otherFamily(f corev1.IPFamily) corev1.IPFamily {
	if f == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}
