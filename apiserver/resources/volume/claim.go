package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Modes are how a volume can be had: as a device, or as files.
var Modes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}

// accessModes in the order in which errors list them.
var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

// ValidateClaim judges the spec of a claim, also in the templates of a StatefulSet.
func ValidateClaim(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), "at least 1 access mode is required"))
	}
	if s.Selector != nil {
		errs = append(errs, rules.Selector(p.Child("selector"), s.Selector)...)
	}
	errs = append(errs, ValidateAccessModes(s.AccessModes, p.Child("accessModes"))...)
	size, ok := s.Resources.Requests[corev1.ResourceStorage]
	if at := p.Child("resources").Key(string(corev1.ResourceStorage)); !ok {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, rules.PositiveQuantity(at, size)...)
	}
	if c := ptr.Deref(s.StorageClassName, ""); c != "" {
		errs = append(errs, rules.Invalid(p.Child("storageClassName"), c, apivalidation.NameIsDNSSubdomain(c, false))...)
	}
	if s.VolumeMode != nil {
		errs = append(errs, rules.Among(p.Child("volumeMode"), *s.VolumeMode, Modes...)...)
	}
	errs = append(errs, validateDataSources(s, p)...)
	if c := ptr.Deref(s.VolumeAttributesClassName, ""); c != "" {
		errs = append(errs, rules.Invalid(p.Child("volumeAttributesClassName"), c, apivalidation.NameIsDNSSubdomain(c, false))...)
	}
	return errs
}

func validateDataSources(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	d, r := s.DataSource, s.DataSourceRef
	if d != nil {
		errs = append(errs, validateDataSource(d.APIGroup, d.Kind, d.Name, p.Child("dataSource"))...)
	}
	if r != nil {
		errs = append(errs, validateDataSource(r.APIGroup, r.Kind, r.Name, p.Child("dataSourceRef"))...)
		if ns := ptr.Deref(r.Namespace, ""); ns != "" {
			errs = append(errs, rules.Invalid(p.Child("dataSourceRef", "namespace"), ns, apivalidation.ValidateNamespaceName(ns, false))...)
		}
	}
	switch {
	case d == nil || r == nil:
	case ptr.Deref(r.Namespace, "") != "":
		errs = append(errs, field.Invalid(p, p.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified"))
	case d.Kind != r.Kind || d.Name != r.Name || !ptr.Equal(d.APIGroup, r.APIGroup):
		errs = append(errs, field.Invalid(p, p.Child("dataSource"), "must match dataSourceRef"))
	}
	return errs
}

func validateDataSource(apiGroup *string, kind, name string, p *field.Path) field.ErrorList {
	errs := append(rules.Required(p.Child("name"), name), rules.Required(p.Child("kind"), kind)...)
	group := ptr.Deref(apiGroup, "")
	if group == "" {
		if kind != "PersistentVolumeClaim" {
			errs = append(errs, field.Invalid(p, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
		}
		return errs
	}
	return append(errs, rules.Invalid(p.Child("apiGroup"), group, validation.IsDNS1123Subdomain(group))...)
}

// ValidateAccessModes: known ones; one that wants a single pod stands alone.
func ValidateAccessModes(modes []corev1.PersistentVolumeAccessMode, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	single, others := false, false
	for _, m := range modes {
		switch {
		case !slices.Contains(accessModes, m):
			errs = append(errs, field.NotSupported(p, m, accessModes))
		case m == corev1.ReadWriteOncePod:
			single = true
		default:
			others = true
		}
	}
	if single && others {
		errs = append(errs, field.Forbidden(p, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}
