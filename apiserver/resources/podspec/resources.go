package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// standard are the resources of a container that have no domain in their name.
var standard = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// ValidateResources judges a container's requests and limits.
func ValidateResources(r *corev1.ResourceRequirements, p *field.Path) field.ErrorList {
	return validateRequirements(r, ValidateContainerResource, p)
}

// validateRequirements judges requests and limits of resources whose names a rule knows.
func validateRequirements(r *corev1.ResourceRequirements, name func(corev1.ResourceName, *field.Path) field.ErrorList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, n := range slices.Sorted(maps.Keys(r.Limits)) {
		errs = append(errs, validateAmount(n, r.Limits[n], name, p.Child("limits").Key(string(n)))...)
	}
	for _, n := range slices.Sorted(maps.Keys(r.Requests)) {
		q, at := r.Requests[n], p.Child("requests")
		errs = append(errs, validateAmount(n, q, name, at.Key(string(n)))...)
		limit, limited := r.Limits[n]
		switch {
		case limited && q.Cmp(limit) != 0 && !Overcommit(n):
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("must be equal to %s limit of %s", n, limit.String())))
		case limited && q.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", n, limit.String())))
		case !limited && !Overcommit(n):
			errs = append(errs, field.Required(p.Child("limits"), "Limit must be set for non overcommitable resources"))
		}
	}
	if hasHugePages(r) && !hasCompute(r) {
		errs = append(errs, field.Forbidden(p, "HugePages require cpu or memory"))
	}
	return errs
}

func hasHugePages(r *corev1.ResourceRequirements) bool {
	for _, l := range []corev1.ResourceList{r.Limits, r.Requests} {
		for n := range l {
			if isHugePages(n) {
				return true
			}
		}
	}
	return false
}

func hasCompute(r *corev1.ResourceRequirements) bool {
	for _, l := range []corev1.ResourceList{r.Limits, r.Requests} {
		for _, n := range counted {
			if _, ok := l[n]; ok {
				return true
			}
		}
	}
	return false
}

func validateAmount(n corev1.ResourceName, q resource.Quantity, name func(corev1.ResourceName, *field.Path) field.ErrorList, p *field.Path) field.ErrorList {
	errs := name(n, p)
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(p, q.String(), "must be greater than or equal to 0"))
	}
	if IsInteger(n) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(p, q, "must be an integer"))
	}
	if isHugePages(n) && !wholePages(n, q) {
		errs = append(errs, field.Invalid(p, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), n)))
	}
	return errs
}

// wholePages says whether an amount is so many pages of the size that its name tells.
func wholePages(n corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(n), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return false
	}
	return q.Value()%size.Value() == 0
}
