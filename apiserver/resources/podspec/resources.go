package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// standard are the resources of a container that have no domain in their name.
var standard = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// ValidateResources judges a container's requests and limits.
func ValidateResources(r *corev1.ResourceRequirements, p *field.Path) field.ErrorList {
	errs := validateList(r.Limits, p.Child("limits"))
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		q := r.Requests[name]
		at := p.Child("requests")
		errs = append(errs, validateQuantity(name, q, at.Key(string(name)))...)
		limit, limited := r.Limits[name]
		switch {
		case limited && q.Cmp(limit) != 0 && !overcommit(name):
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && q.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		case !limited && !overcommit(name):
			errs = append(errs, field.Required(p.Child("limits"), "Limit must be set for non overcommitable resources"))
		}
	}
	return errs
}

// overcommit says whether more may be promised than there is.
func overcommit(name corev1.ResourceName) bool {
	return slices.Contains(standard, name)
}

func validateList(l corev1.ResourceList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(l)) {
		errs = append(errs, validateQuantity(name, l[name], p.Key(string(name)))...)
	}
	return errs
}

func validateQuantity(name corev1.ResourceName, q resource.Quantity, p *field.Path) field.ErrorList {
	errs := invalid(p, string(name), validation.IsQualifiedName(string(name)))
	if len(errs) == 0 && !strings.Contains(string(name), "/") && !overcommit(name) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		errs = append(errs, field.Invalid(p, name, "must be a standard resource type or fully qualified"), field.Invalid(p, name, "must be a standard resource for containers"))
	}
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(p, q.String(), "must be greater than or equal to 0"))
	}
	if !overcommit(name) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(p, q.String(), "must be an integer"))
	}
	return errs
}
