package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// ValidateClaim judges the spec of a claim, also in the templates of a StatefulSet.
func ValidateClaim(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), "at least 1 access mode is required"))
	}
	if s.Selector != nil {
		errs = append(errs, rules.Selector(p.Child("selector"), s.Selector)...)
	}
	errs = append(errs, validateAccessModes(s.AccessModes, p.Child("accessModes"))...)
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
		errs = append(errs, rules.Among(p.Child("volumeMode"), *s.VolumeMode, volumeModes...)...)
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

// resizeStates are how far the growth of a resource of a claim may have come, in the order in which errors list them.
var resizeStates = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible, corev1.PersistentVolumeClaimNodeResizePending,
}

func validateClaimStatus(s *corev1.PersistentVolumeClaimStatus) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(s.Capacity)) {
		errs = append(errs, validateBasic(s.Capacity[name], statusPath.Child("capacity").Key(string(name)))...)
	}
	path := statusPath.Child("allocatedResourceStatuses")
	for _, name := range slices.Sorted(maps.Keys(s.AllocatedResourceStatuses)) {
		errs = append(errs, validateClaimResource(name, path)...)
		if !slices.Contains(resizeStates, s.AllocatedResourceStatuses[name]) {
			errs = append(errs, field.NotSupported(path, name, resizeStates))
		}
	}
	path = statusPath.Child("allocatedResources")
	for _, name := range slices.Sorted(maps.Keys(s.AllocatedResources)) {
		q := s.AllocatedResources[name]
		found := validateClaimResource(name, path)
		if len(found) == 0 {
			if found = validateBasic(q, path.Key(string(name))); len(found) == 0 {
				found = validateAmount(corev1.ResourceStorage, q, path.Key(string(name)))
			}
		}
		errs = append(errs, found...)
	}
	return errs
}

// validateClaimResource: of the system's own resources a claim has only storage.
func validateClaimResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if texts := validation.IsQualifiedName(string(name)); len(texts) > 0 {
		return rules.Invalid(path, string(name), texts)
	}
	if podspec.IsNative(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(path, string(name), []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return nil
}
