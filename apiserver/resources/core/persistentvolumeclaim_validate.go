package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

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
