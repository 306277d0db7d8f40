package networking

import (
	"context"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// ServiceCIDR is a range that services get their addresses from.
var ServiceCIDR = resource.Define(resource.Kind[*networkingv1.ServiceCIDR]{
	Name:  resource.Name{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR", Plural: "servicecidrs"},
	List:  &networkingv1.ServiceCIDRList{},
	Store: "servicecidrs",
	Strategy: resource.Strategy[*networkingv1.ServiceCIDR]{
		PrepareForCreate: func(_ context.Context, c *networkingv1.ServiceCIDR) { c.Status = networkingv1.ServiceCIDRStatus{} },
		PrepareForUpdate: func(_ context.Context, c, old *networkingv1.ServiceCIDR) { c.Status = old.Status },
		Validate: func(_ context.Context, c *networkingv1.ServiceCIDR) field.ErrorList {
			return validateRanges(c.Spec.CIDRs)
		},
		ValidateUpdate: func(_ context.Context, c, old *networkingv1.ServiceCIDR) field.ErrorList {
			return validateRangesUpdate(c.Spec.CIDRs, old.Spec.CIDRs)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*networkingv1.ServiceCIDR]{
		PrepareForUpdate: func(_ context.Context, c, old *networkingv1.ServiceCIDR) {
			c.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&c.ObjectMeta, &old.ObjectMeta)
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("CIDRs", "string", networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"]),
		resource.AgeColumn,
	},
	Row: func(c *networkingv1.ServiceCIDR) []any {
		return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), resource.AgeOf(c)}
	},
})

// validateRanges: one, or one of each family of addresses.
func validateRanges(cidrs []string) field.ErrorList {
	path := specPath.Child("cidrs")
	switch n := len(cidrs); {
	case n == 0:
		return field.ErrorList{field.Required(path, "at least one CIDR required")}
	case n > 2:
		return field.ErrorList{field.Invalid(path, &networkingv1.ServiceCIDRSpec{CIDRs: cidrs}, "may only hold up to 2 values")}
	}
	var errs field.ErrorList
	for i, c := range cidrs {
		errs = append(errs, validation.IsValidCIDR(path.Index(i), c)...)
	}
	if len(cidrs) == 2 {
		a, b := netutils.IPFamilyOfCIDRString(cidrs[0]), netutils.IPFamilyOfCIDRString(cidrs[1])
		if a == b && a != netutils.IPFamilyUnknown {
			errs = append(errs, field.Invalid(path, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
		}
	}
	return errs
}

// validateRangesUpdate: a second range may come; nothing else changes.
func validateRangesUpdate(now, was []string) field.ErrorList {
	path := specPath.Child("cidrs")
	added := len(was) == 1 && len(now) == 2
	if len(now) != len(was) && !added {
		return field.ErrorList{field.Invalid(path, now, rules.ImmutableText)}
	}
	var errs field.ErrorList
	for i, c := range was {
		if now[i] != c {
			errs = append(errs, field.Invalid(path.Index(i), now[i], rules.ImmutableText))
		}
	}
	if added {
		errs = slices.Concat(errs, validateRanges(now))
	}
	return errs
}
