package rbac

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Role allows things in a namespace.
var Role = resource.Define(resource.Kind[*rbacv1.Role]{
	Name:    resource.Name{Group: rbacv1.GroupName, Version: "v1", Kind: "Role", Plural: "roles", Namespaced: true},
	List:    &rbacv1.RoleList{},
	Store:   "roles",
	Governs: true,
	Strategy: resource.Strategy[*rbacv1.Role]{
		Validate:       func(_ context.Context, r *rbacv1.Role) field.ErrorList { return validateRules(r.Rules, true) },
		ValidateUpdate: func(_ context.Context, r, _ *rbacv1.Role) field.ErrorList { return validateRules(r.Rules, true) },
	},
	ValidateName:   rules.PathSegment,
	CreateOnUpdate: true,
})

// ClusterRole allows things everywhere, and what no namespace holds. An aggregated one is filled from others.
var ClusterRole = resource.Define(resource.Kind[*rbacv1.ClusterRole]{
	Name:    resource.Name{Group: rbacv1.GroupName, Version: "v1", Kind: "ClusterRole", Plural: "clusterroles"},
	List:    &rbacv1.ClusterRoleList{},
	Store:   "clusterroles",
	Governs: true,
	Strategy: resource.Strategy[*rbacv1.ClusterRole]{
		Validate:       func(_ context.Context, r *rbacv1.ClusterRole) field.ErrorList { return validateClusterRole(r) },
		ValidateUpdate: func(_ context.Context, r, _ *rbacv1.ClusterRole) field.ErrorList { return validateClusterRole(r) },
	},
	ValidateName:   rules.PathSegment,
	CreateOnUpdate: true,
})

func validateRules(rs []rbacv1.PolicyRule, namespaced bool) field.ErrorList {
	var errs, verbless field.ErrorList
	for i := range rs {
		path := field.NewPath("rules").Index(i)
		errs = append(errs, validateRule(&rs[i], namespaced, path)...)
		if len(rs[i].Verbs) == 0 {
			verbless = append(verbless, field.Required(path.Child("verbs"), ""))
		}
	}
	return append(errs, verbless...)
}

func validateRule(r *rbacv1.PolicyRule, namespaced bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(r.NonResourceURLs) > 0 {
		at := path.Child("nonResourceURLs")
		if namespaced {
			errs = append(errs, field.Invalid(at, r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs"))
		}
		if len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0 {
			errs = append(errs, field.Invalid(at, r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if len(r.APIGroups) == 0 {
		errs = append(errs, field.Required(path.Child("apiGroups"), "resource rules must supply at least one api group"))
	}
	if len(r.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"), "resource rules must supply at least one resource"))
	}
	return errs
}

func validateClusterRole(r *rbacv1.ClusterRole) field.ErrorList {
	errs := validateRules(r.Rules, false)
	if r.AggregationRule == nil {
		return errs
	}
	path := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(r.AggregationRule.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		s := &r.AggregationRule.ClusterRoleSelectors[i]
		errs = append(errs, rules.Selector(path.Index(i), s)...)
		if selector, err := metav1.LabelSelectorAsSelector(s); err != nil {
			errs = append(errs, field.Invalid(path.Index(i), selector, "invalid label selector."))
		}
	}
	return errs
}
