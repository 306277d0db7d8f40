package core

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// ValidateAddresses judges a Service's addresses and their families against one another. What the cluster has is not asked.
func ValidateAddresses(s *corev1.Service) field.ErrorList {
	spec := &s.Spec
	if !NeedsClusterIP(s) {
		return nil
	}
	path := servicePath.Child("clusterIPs")
	var errs field.ErrorList
	switch {
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		errs = append(errs, field.Required(path, ""))
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		errs = append(errs, field.Invalid(path, spec.ClusterIPs, "first value must match `clusterIP`"))
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		errs = append(errs, field.Invalid(path, spec.ClusterIPs, "must be empty when `clusterIP` is not specified"))
	}
	errs = append(errs, validateFamilies(spec)...)
	wrong := validateEachIP(spec.ClusterIPs, path)
	if len(spec.ClusterIPs) > 2 {
		errs = append(errs, field.Invalid(path, spec.ClusterIPs, "may only hold up to 2 values"))
	}
	if errs = append(errs, wrong...); len(wrong) > 0 {
		return errs
	}
	return append(errs, validateIPFamilies(s, path)...)
}

func validateEachIP(ips []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range ips {
		switch {
		case i == 0 && ip == corev1.ClusterIPNone && len(ips) > 1:
			errs = append(errs, field.Invalid(path, ips, "'None' must be the first and only value"))
		case i == 0 && ip == corev1.ClusterIPNone:
		default:
			errs = append(errs, validation.IsValidIP(path.Index(i), ip)...)
		}
	}
	return errs
}

func validateFamilies(spec *corev1.ServiceSpec) field.ErrorList {
	var errs field.ErrorList
	seen := map[corev1.IPFamily]bool{}
	for i, f := range spec.IPFamilies {
		at := servicePath.Child("ipFamilies").Index(i)
		errs = append(errs, rules.Among(at, f, corev1.IPv4Protocol, corev1.IPv6Protocol)...)
		if seen[f] {
			errs = append(errs, field.Duplicate(at, f))
		}
		seen[f] = true
	}
	if p := spec.IPFamilyPolicy; p != nil {
		errs = append(errs, rules.Among(servicePath.Child("ipFamilyPolicy"), *p, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack)...)
	}
	return errs
}

// FamilyOf is the family of an address, given as text.
func FamilyOf(ip string) corev1.IPFamily {
	if strings.Contains(ip, ":") {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

func validateIPFamilies(s *corev1.Service, path *field.Path) field.ErrorList {
	ips := s.Spec.ClusterIPs
	var errs field.ErrorList
	if len(ips) > 1 && FamilyOf(ips[0]) == FamilyOf(ips[1]) {
		errs = append(errs, field.Invalid(path, ips, "may specify no more than one IP for each IP family"))
	}
	if headless(s) {
		return errs
	}
	for i, ip := range ips {
		if i < len(s.Spec.IPFamilies) && s.Spec.IPFamilies[i] != FamilyOf(ip) {
			errs = append(errs, field.Invalid(path.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", s.Spec.IPFamilies[i], i)))
		}
	}
	return errs
}

// validateReachable demands an address that others can reach: none of the machine's own, nor of one link.
func validateReachable(ip string, p *field.Path) field.ErrorList {
	if errs := validation.IsValidIP(p, ip); len(errs) > 0 {
		return errs
	}
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return field.ErrorList{field.Invalid(p, ip, "must be a valid IP address")}
	}
	var errs field.ErrorList
	for _, x := range []struct {
		is   bool
		text string
	}{
		{a.IsUnspecified(), fmt.Sprintf("may not be unspecified (%v)", ip)},
		{a.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{a.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{a.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if x.is {
			errs = append(errs, field.Invalid(p, ip, x.text))
		}
	}
	return errs
}

func balanced(s *corev1.Service) bool { return s.Spec.Type == corev1.ServiceTypeLoadBalancer }

// NeedsHealthCheck says whether a balancer asks nodes on a port of its own if they have pods of a Service.
func NeedsHealthCheck(s *corev1.Service) bool {
	return balanced(s) && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// validateBalancer judges what only a balancer in front of a Service has.
func validateBalancer(s *corev1.Service) field.ErrorList {
	const only = "may only be used when `type` is 'LoadBalancer'"
	spec := &s.Spec
	errs := validateSourceRanges(s)
	switch {
	case !balanced(s) && spec.AllocateLoadBalancerNodePorts != nil:
		errs = append(errs, field.Forbidden(servicePath.Child("allocateLoadBalancerNodePorts"), only))
	case balanced(s) && spec.AllocateLoadBalancerNodePorts == nil:
		errs = append(errs, field.Required(field.NewPath("allocateLoadBalancerNodePorts"), ""))
	}
	switch class := ptr.Deref(spec.LoadBalancerClass, ""); {
	case spec.LoadBalancerClass == nil:
	case balanced(s):
		errs = append(errs, invalid(servicePath.Child("loadBalancerClass"), class, validation.IsQualifiedName(class))...)
	default:
		errs = append(errs, field.Forbidden(servicePath.Child("loadBalancerClass"), only))
	}
	return errs
}

// validateSourceRanges judges from where a balancer may be reached, told in the spec or, of old, in an annotation.
func validateSourceRanges(s *corev1.Service) field.ErrorList {
	const only = "may only be used when `type` is 'LoadBalancer'"
	path := servicePath.Child("LoadBalancerSourceRanges")
	ranges := s.Spec.LoadBalancerSourceRanges
	at := path.Index
	if text, ok := s.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]; len(ranges) == 0 && ok {
		path = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
		at = func(int) *field.Path { return path }
		ranges = nil
		if text = strings.TrimSpace(text); text != "" {
			ranges = strings.Split(text, ",")
		}
	} else if len(ranges) == 0 {
		return nil
	}
	var errs field.ErrorList
	if !balanced(s) {
		errs = append(errs, field.Forbidden(path, only))
	}
	for i, r := range ranges {
		r = strings.TrimSpace(r)
		if _, _, err := net.ParseCIDR(r); err != nil {
			errs = append(errs, field.Invalid(at(i), r, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"))
		}
	}
	return errs
}

// validateIngress judges where a balancer says that it is reached.
func validateIngress(s *corev1.Service) field.ErrorList {
	path := field.NewPath("status", "loadBalancer", "ingress")
	if !balanced(s) && len(s.Status.LoadBalancer.Ingress) > 0 {
		return field.ErrorList{field.Forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	var errs field.ErrorList
	for i, in := range s.Status.LoadBalancer.Ingress {
		at := path.Index(i)
		if in.IP != "" {
			errs = append(errs, validation.IsValidIP(at.Child("ip"), in.IP)...)
		}
		switch mode := in.IPMode; {
		case mode == nil && in.IP != "":
			errs = append(errs, field.Required(at.Child("ipMode"), "must be specified when `ip` is set"))
		case mode != nil && in.IP == "":
			errs = append(errs, field.Forbidden(at.Child("ipMode"), "may not be specified when `ip` is not set"))
		case mode != nil:
			errs = append(errs, rules.Among(at.Child("ipMode"), *mode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)...)
		}
		if in.Hostname != "" {
			errs = append(errs, invalid(at.Child("hostname"), in.Hostname, validation.IsDNS1123Subdomain(in.Hostname))...)
			if net.ParseIP(in.Hostname) != nil {
				errs = append(errs, field.Invalid(at.Child("hostname"), in.Hostname, "must be a DNS name, not an IP address"))
			}
		}
	}
	return errs
}

// serviceWarnings tells what of a Service is accepted and without effect, or of old.
func serviceWarnings(s *corev1.Service) []string {
	var out []string
	spec := &s.Spec
	if _, ok := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		out = append(out, fmt.Sprintf("annotation %s is deprecated, please use %s instead", corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	named := spec.Type == corev1.ServiceTypeExternalName
	for _, x := range []struct {
		is   bool
		text string
	}{
		{headless(s) && spec.LoadBalancerIP != "", "spec.loadBalancerIP is ignored for headless services"},
		{headless(s) && len(spec.ExternalIPs) > 0, "spec.externalIPs is ignored for headless services"},
		{headless(s) && spec.SessionAffinity != corev1.ServiceAffinityNone, "spec.SessionAffinity is ignored for headless services"},
		{len(spec.ExternalIPs) > 0 && !headless(s) && !named, "spec.externalIPs is deprecated and may no longer be implemented in some clusters"},
		{named && len(spec.ExternalIPs) > 0, `spec.externalIPs is ignored when spec.type is "ExternalName"`},
		{!named && spec.ExternalName != "", `spec.externalName is ignored when spec.type is not "ExternalName"`},
		{ptr.Deref(spec.TrafficDistribution, "") == corev1.ServiceTrafficDistributionPreferClose, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q", corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone)},
	} {
		if x.is {
			out = append(out, x.text)
		}
	}
	return out
}
