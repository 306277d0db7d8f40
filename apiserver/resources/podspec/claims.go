package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/goform"
)

// validateClaims judges the claims of devices that a pod has.
func validateClaims(meta *metav1.ObjectMeta, claims []corev1.PodResourceClaim, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.Set[string]{}
	for i, c := range claims {
		if meta != nil && meta.Annotations[corev1.MirrorPodAnnotationKey] != "" {
			errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
			continue
		}
		errs = append(errs, validateClaim(&c, seen, p.Index(i))...)
	}
	return errs
}

func validateClaim(c *corev1.PodResourceClaim, seen sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case c.Name == "":
		errs = append(errs, field.Required(p.Child("name"), ""))
	case seen.Has(c.Name):
		errs = append(errs, field.Duplicate(p.Child("name"), c.Name))
	default:
		errs = append(errs, invalid(p.Child("name"), c.Name, validation.IsDNS1123Label(c.Name))...)
		seen.Insert(c.Name)
	}
	switch {
	case c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil:
		errs = append(errs, field.Invalid(p, goform.Of(*c), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
	case c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil:
		errs = append(errs, field.Invalid(p, goform.Of(*c), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
	}
	if n := c.ResourceClaimName; n != nil {
		errs = append(errs, invalid(p.Child("resourceClaimName"), *n, apivalidation.NameIsDNSSubdomain(*n, false))...)
	}
	if n := c.ResourceClaimTemplateName; n != nil {
		errs = append(errs, invalid(p.Child("resourceClaimTemplateName"), *n, apivalidation.NameIsDNSSubdomain(*n, false))...)
	}
	return errs
}

// validateUsedClaims judges which of the pod's claims a container uses, whole or one of their requests.
func validateUsedClaims(used []corev1.ResourceClaim, known sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.Set[string]{}
	for i, c := range used {
		at := p.Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		errs = append(errs, validateUse(&c, seen, at)...)
		if !known.Has(c.Name) {
			err := field.NotFound(at, c.Name)
			err.Detail = "must be one of the names in pod.spec.resourceClaims which is empty"
			if len(known) > 0 {
				err.Detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(sets.List(known), ", ")
			}
			errs = append(errs, err)
		}
	}
	return errs
}

func validateUse(c *corev1.ResourceClaim, seen sets.Set[string], at *field.Path) field.ErrorList {
	if seen.Has(c.Name) {
		return field.ErrorList{field.Duplicate(at, c.Name)}
	}
	var errs field.ErrorList
	key := c.Name
	if c.Request != "" {
		errs = append(errs, invalid(at.Child("request"), c.Request, validation.IsDNS1123Label(c.Request))...)
		key += "/" + c.Request
	}
	if seen.Has(key) {
		errs = append(errs, field.Duplicate(at, key))
	} else if c.Request == "" {
		for k := range seen {
			if name, _, ok := strings.Cut(k, "/"); ok && name == c.Name {
				errs = append(errs, field.Duplicate(at, c.Name))
			}
		}
	}
	seen.Insert(key)
	return errs
}
