package networking

import (
	"context"
	"net"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// NetworkPolicy says who may talk to pods, and to whom they may.
var NetworkPolicy = resource.Define(resource.Kind[*networkingv1.NetworkPolicy]{
	Name:    resource.Name{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy", Plural: "networkpolicies", Short: []string{"netpol"}, Namespaced: true},
	List:    &networkingv1.NetworkPolicyList{},
	Store:   "networkpolicies",
	Default: defaultPolicy,
	Strategy: resource.Strategy[*networkingv1.NetworkPolicy]{
		PrepareForCreate: func(_ context.Context, p *networkingv1.NetworkPolicy) { p.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, p, old *networkingv1.NetworkPolicy) {
			if !reflect.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, p *networkingv1.NetworkPolicy) field.ErrorList {
			return validatePolicy(&p.Spec, nil)
		},
		ValidateUpdate: func(_ context.Context, p, old *networkingv1.NetworkPolicy) field.ErrorList {
			return validatePolicy(&p.Spec, addresses(&old.Spec))
		},
		WarningsOnCreate: func(_ context.Context, p *networkingv1.NetworkPolicy) []string { return policyWarnings(&p.Spec) },
		WarningsOnUpdate: func(_ context.Context, p, _ *networkingv1.NetworkPolicy) []string { return policyWarnings(&p.Spec) },
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Pod-Selector", "string", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]),
		resource.AgeColumn,
	},
	Row: func(p *networkingv1.NetworkPolicy) []any {
		return []any{p.Name, metav1.FormatLabelSelector(&p.Spec.PodSelector), resource.AgeOf(p)}
	},
})

func defaultPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for _, l := range lists(&p.Spec) {
		for i := range l.ports {
			if l.ports[i].Protocol == nil {
				l.ports[i].Protocol = ptr.To(corev1.ProtocolTCP)
			}
		}
	}
}

// rule is one rule of either direction.
type rule struct {
	path  *field.Path
	ports []networkingv1.NetworkPolicyPort
	peers []networkingv1.NetworkPolicyPeer
	name  string // of the peers
}

func lists(s *networkingv1.NetworkPolicySpec) []rule {
	var out []rule
	for i, r := range s.Ingress {
		out = append(out, rule{specPath.Child("ingress").Index(i), r.Ports, r.From, "from"})
	}
	for i, r := range s.Egress {
		out = append(out, rule{specPath.Child("egress").Index(i), r.Ports, r.To, "to"})
	}
	return out
}

// addresses are the ranges that a policy names; what was accepted once stays so.
func addresses(s *networkingv1.NetworkPolicySpec) []string {
	var out []string
	for _, l := range lists(s) {
		for _, p := range l.peers {
			if p.IPBlock != nil {
				out = append(append(out, p.IPBlock.CIDR), p.IPBlock.Except...)
			}
		}
	}
	return out
}

func policyWarnings(s *networkingv1.NetworkPolicySpec) []string {
	var out []string
	for _, l := range lists(s) {
		for i, p := range l.peers {
			if p.IPBlock == nil {
				continue
			}
			path := l.path.Child(l.name).Index(i).Child("ipBlock")
			out = append(out, validation.GetWarningsForCIDR(path.Child("cidr"), p.IPBlock.CIDR)...)
			for k, e := range p.IPBlock.Except {
				out = append(out, validation.GetWarningsForCIDR(path.Child("except").Index(k), e)...)
			}
		}
	}
	return out
}

func validatePolicy(s *networkingv1.NetworkPolicySpec, before []string) field.ErrorList {
	errs := rules.Selector(specPath.Child("podSelector"), &s.PodSelector)
	for _, l := range lists(s) {
		for i := range l.ports {
			errs = append(errs, validatePort(&l.ports[i], l.path.Child("ports").Index(i))...)
		}
		for i := range l.peers {
			errs = append(errs, validatePeer(&l.peers[i], before, l.path.Child(l.name).Index(i))...)
		}
	}
	path := specPath.Child("policyTypes")
	if len(s.PolicyTypes) > 2 {
		return append(errs, field.Invalid(path, &s.PolicyTypes, "may not specify more than two policyTypes"))
	}
	for i, t := range s.PolicyTypes {
		errs = append(errs, rules.Among(path.Index(i), t, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)...)
	}
	return errs
}

func validatePort(p *networkingv1.NetworkPolicyPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p.Protocol != nil {
		errs = append(errs, rules.Among(path.Child("protocol"), *p.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
	}
	at, end := path.Child("port"), path.Child("endPort")
	switch {
	case p.Port == nil:
		if p.EndPort != nil {
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is not specified"))
		}
	case p.Port.Type == intstr.Int:
		errs = append(errs, rules.Invalid(at, p.Port.IntVal, validation.IsValidPortNum(int(p.Port.IntVal)))...)
		if e := p.EndPort; e != nil {
			if *e < p.Port.IntVal {
				errs = append(errs, field.Invalid(end, *e, "must be greater than or equal to `port`"))
			}
			errs = append(errs, rules.Invalid(end, *e, validation.IsValidPortNum(int(*e)))...)
		}
	default:
		if p.EndPort != nil {
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is non-numeric"))
		}
		errs = append(errs, rules.Invalid(at, p.Port.StrVal, validation.IsValidPortName(p.Port.StrVal))...)
	}
	return errs
}

func validatePeer(p *networkingv1.NetworkPolicyPeer, before []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p.PodSelector != nil {
		errs = append(errs, rules.Selector(path.Child("podSelector"), p.PodSelector)...)
	}
	if p.NamespaceSelector != nil {
		errs = append(errs, rules.Selector(path.Child("namespaceSelector"), p.NamespaceSelector)...)
	}
	if p.IPBlock != nil {
		errs = append(errs, validateBlock(p.IPBlock, before, path.Child("ipBlock"))...)
	}
	selects := p.PodSelector != nil || p.NamespaceSelector != nil
	switch {
	case !selects && p.IPBlock == nil:
		errs = append(errs, field.Required(path, "must specify a peer"))
	case selects && p.IPBlock != nil:
		errs = append(errs, field.Forbidden(path, "may not specify both ipBlock and another peer"))
	}
	return errs
}

// validateBlock: a range, and smaller ranges inside it that are left out.
func validateBlock(b *networkingv1.IPBlock, before []string, path *field.Path) field.ErrorList {
	if b.CIDR == "" {
		return field.ErrorList{field.Required(path.Child("cidr"), "")}
	}
	errs := validation.IsValidCIDRForLegacyField(path.Child("cidr"), b.CIDR, true, before)
	_, whole, err := netutils.ParseCIDRSloppy(b.CIDR)
	if err != nil {
		return errs
	}
	for i, e := range b.Except {
		at := path.Child("except").Index(i)
		errs = append(errs, validation.IsValidCIDRForLegacyField(at, e, true, before)...)
		if _, part, err := netutils.ParseCIDRSloppy(e); err == nil && !strictlyWithin(part, whole) {
			errs = append(errs, field.Invalid(at, e, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}

func strictlyWithin(part, whole *net.IPNet) bool {
	a, _ := part.Mask.Size()
	b, _ := whole.Mask.Size()
	return whole.Contains(part.IP) && b < a
}
