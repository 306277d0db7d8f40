package core

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/goform"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// ResourceQuota bounds what a namespace may use in all.
var ResourceQuota = resource.Define(resource.Kind[*corev1.ResourceQuota]{
	Name:  resource.Name{Version: "v1", Kind: "ResourceQuota", Plural: "resourcequotas", Short: []string{"quota"}, Namespaced: true},
	List:  &corev1.ResourceQuotaList{},
	Store: "resourcequotas",
	Default: func(q *corev1.ResourceQuota) {
		for _, list := range []corev1.ResourceList{q.Spec.Hard, q.Status.Hard, q.Status.Used} {
			podspec.RoundUp(list)
		}
	},
	Strategy: resource.Strategy[*corev1.ResourceQuota]{
		PrepareForCreate: func(_ context.Context, q *corev1.ResourceQuota) { q.Status = corev1.ResourceQuotaStatus{} },
		PrepareForUpdate: func(_ context.Context, q, old *corev1.ResourceQuota) { q.Status = old.Status },
		Validate:         func(_ context.Context, q *corev1.ResourceQuota) field.ErrorList { return validateQuota(&q.Spec) },
		ValidateUpdate: func(_ context.Context, q, old *corev1.ResourceQuota) field.ErrorList {
			errs := validateQuota(&q.Spec)
			if !sameScopes(q.Spec.Scopes, old.Spec.Scopes) {
				errs = append(errs, field.Invalid(specPath.Child("scopes"), q.Spec.Scopes, apivalidation.FieldImmutableErrorMsg))
			}
			return errs
		},
		WarningsOnCreate: func(_ context.Context, q *corev1.ResourceQuota) []string { return quotaWarnings(q.Spec.Hard) },
		ResetFields:      []string{"status"},
	},
	Status: &resource.Strategy[*corev1.ResourceQuota]{
		PrepareForUpdate: func(_ context.Context, q, old *corev1.ResourceQuota) { q.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, q, _ *corev1.ResourceQuota) field.ErrorList {
			return append(validateCounted(q.Status.Hard, statusPath.Child("hard")), validateCounted(q.Status.Used, statusPath.Child("used"))...)
		},
		ResetFields: []string{"spec"},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Request", "string", "Request represents a minimum amount of cpu/memory that a container may consume."),
		resource.Column("Limit", "string", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
		resource.AgeColumn,
	},
	Row: func(q *corev1.ResourceQuota) []any {
		requests, limits := quotaCells(&q.Status)
		return []any{q.Name, requests, limits, resource.AgeOf(q)}
	},
})

// quotaCells shows what is used of what: requests and counts, and limits.
func quotaCells(s *corev1.ResourceQuotaStatus) (requests, limits string) {
	var r, l bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(s.Hard)) {
		cell := &r
		if strings.HasPrefix(string(name), "limits.") {
			cell = &l
		}
		if cell.Len() > 0 {
			cell.WriteString(", ")
		}
		used, hard := s.Used[name], s.Hard[name]
		fmt.Fprintf(cell, "%s: %s/%s", name, used.String(), hard.String())
	}
	return r.String(), l.String()
}

func sameScopes(a, b []corev1.ResourceQuotaScope) bool {
	within := func(a, b []corev1.ResourceQuotaScope) bool {
		return !slices.ContainsFunc(a, func(s corev1.ResourceQuotaScope) bool { return !slices.Contains(b, s) })
	}
	return within(a, b) && within(b, a)
}

// quotaWarnings: nobody can use a quota of requests that is above that of limits.
func quotaWarnings(hard corev1.ResourceList) []string {
	var out []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage} {
		requestName, limitName := "requests."+name, "limits."+name
		request, ok := hard[requestName]
		if !ok && (name == corev1.ResourceCPU || name == corev1.ResourceMemory) {
			if request, ok = hard[name]; ok {
				requestName = name
			}
		}
		limit, limited := hard[limitName]
		if ok && limited && request.Cmp(limit) > 0 {
			out = append(out, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", requestName, request.String(), limitName, limit.String()))
		}
	}
	return out
}

func validateQuota(s *corev1.ResourceQuotaSpec) field.ErrorList {
	errs := validateCounted(s.Hard, specPath.Child("hard"))
	errs = append(errs, validateScopes(s, specPath.Child("scopes"))...)
	if s.ScopeSelector != nil {
		errs = append(errs, validateScopeSelector(s, specPath.Child("scopeSelector", "matchExpressions"))...)
	}
	return errs
}

// validateCounted judges names and amounts of what a quota counts.
func validateCounted(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at, q := path.Key(string(name)), list[name]
		errs = append(errs, podspec.ValidateResourceName(name, at)...)
		if !strings.Contains(string(name), "/") && !podspec.IsQuota(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
		}
		errs = append(errs, validateAmount(name, q, at)...)
	}
	return errs
}

// scopes that can be asked for.
var scopes = []corev1.ResourceQuotaScope{
	corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort,
	corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeVolumeAttributesClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
}

var (
	podCompute = []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
	}
	claimStorage = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}
)

// scopeFits says whether a scope tells apart what a resource counts.
func scopeFits(s corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	switch s {
	case corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return slices.Contains(claimStorage, name)
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return name == corev1.ResourcePods || slices.Contains(podCompute, name)
	}
	return true
}

func misfits(s corev1.ResourceQuotaScope, hard corev1.ResourceList, path *field.Path, shown any) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if podspec.IsQuota(name) && !scopeFits(s, name) {
			errs = append(errs, field.Invalid(path, shown, "unsupported scope applied to resource"))
		}
	}
	return errs
}

func validateScopes(s *corev1.ResourceQuotaSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, scope := range s.Scopes {
		if !slices.Contains(scopes, scope) {
			errs = append(errs, field.Invalid(path, s.Scopes, "unsupported scope"))
		}
		errs = append(errs, misfits(scope, s.Hard, path, s.Scopes)...)
	}
	return append(errs, conflicts(s.Scopes, path, s.Scopes)...)
}

// conflicts: no pod is both.
func conflicts(all []corev1.ResourceQuotaScope, path *field.Path, shown any) field.ErrorList {
	var errs field.ErrorList
	pairs := [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort}, {corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	}
	for _, p := range pairs {
		if slices.Contains(all, p[0]) && slices.Contains(all, p[1]) {
			errs = append(errs, field.Invalid(path, shown, "conflicting scopes"))
		}
	}
	return errs
}

func validateScopeSelector(s *corev1.ResourceQuotaSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	var all []corev1.ResourceQuotaScope
	for _, r := range s.ScopeSelector.MatchExpressions {
		if !slices.Contains(scopes, r.ScopeName) {
			errs = append(errs, field.Invalid(path.Child("scopeName"), r.ScopeName, "unsupported scope"))
		}
		errs = append(errs, misfits(r.ScopeName, s.Hard, path, goform.Of(s.ScopeSelector))...)
		errs = append(errs, validateScopeRequirement(&r, path)...)
		all = append(all, r.ScopeName)
	}
	return append(errs, conflicts(all, path, s.Scopes)...)
}

func validateScopeRequirement(r *corev1.ScopedResourceSelectorRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating,
		corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		if r.Operator != corev1.ScopeSelectorOpExists {
			errs = append(errs, field.Invalid(path.Child("operator"), r.Operator,
				"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
		}
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(path.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(r.Values) != 0 {
			errs = append(errs, field.Invalid(path.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return errs
}
