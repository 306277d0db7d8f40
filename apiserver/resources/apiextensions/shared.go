package apiextensions

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type version = apiextensions.CustomResourceDefinitionVersion

// part is what a definition may say once for all versions, or for each.
type part struct {
	// name of the field in the spec, and what a user calls the part of a version.
	name, plural string
	once         bool // said for all versions
	of           func(v *version) any
	given        func(v *version) bool
}

func parts(s *apiextensions.CustomResourceDefinitionSpec) []part {
	return []part{
		{"validation", "schemas", s.Validation != nil, func(v *version) any { return v.Schema }, func(v *version) bool { return v.Schema != nil }},
		{"subresources", "subresources", s.Subresources != nil, func(v *version) any { return v.Subresources }, func(v *version) bool { return v.Subresources != nil }},
		{"additionalPrinterColumns", "additionalPrinterColumns", len(s.AdditionalPrinterColumns) > 0,
			func(v *version) any { return v.AdditionalPrinterColumns }, func(v *version) bool { return len(v.AdditionalPrinterColumns) > 0 }},
	}
}

// validateShared: what is said for all versions is not said for one, and what all versions say alike is said once.
func validateShared(s *apiextensions.CustomResourceDefinitionSpec) field.ErrorList {
	var errs field.ErrorList
	for _, p := range parts(s) {
		if p.once && anyVersion(s.Versions, p.given) {
			errs = append(errs, field.Forbidden(specPath.Child(p.name), fmt.Sprintf("top-level and per-version %s are mutually exclusive", p.plural)))
		}
	}
	for _, p := range parts(s) {
		if p.identical(s.Versions) {
			errs = append(errs, field.Invalid(specPath.Child("versions"), s.Versions, fmt.Sprintf(
				"per-version %s may not all be set to identical values (top-level %s should be used instead)", p.plural, p.name)))
		}
	}
	return errs
}

func anyVersion(versions []version, is func(v *version) bool) bool {
	for i := range versions {
		if is(&versions[i]) {
			return true
		}
	}
	return false
}

func (p part) identical(versions []version) bool {
	for i := range versions {
		if !p.given(&versions[i]) || !equality.Semantic.DeepEqual(p.of(&versions[i]), p.of(&versions[0])) {
			return false
		}
	}
	return len(versions) > 0
}

// subresourcesOf gives those of a version, whether they are said for it or for all.
func subresourcesOf(s *apiextensions.CustomResourceDefinitionSpec, v *version) *apiextensions.CustomResourceSubresources {
	if anyVersion(s.Versions, func(v *version) bool { return v.Subresources != nil }) {
		return v.Subresources
	}
	return s.Subresources
}

func hasStatus(s *apiextensions.CustomResourceSubresources) bool { return s != nil && s.Status != nil }

func anyStatus(s *apiextensions.CustomResourceDefinitionSpec) bool {
	return hasStatus(s.Subresources) || anyVersion(s.Versions, func(v *version) bool { return hasStatus(v.Subresources) })
}
