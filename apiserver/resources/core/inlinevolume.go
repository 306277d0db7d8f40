package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/volume"
)

// DefaultVolumeSpec sets what the spec of a volume leaves out where it stands inside another object.
func DefaultVolumeSpec(s *corev1.PersistentVolumeSpec) {
	podspec.RoundUp(s.Capacity)
	defaultVolumeSource(&s.PersistentVolumeSource)
}

// ValidateInlineVolume judges a volume that stands inside another object: a driver's, with no life of its own.
func ValidateInlineVolume(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	const text = "may not be specified in the context of inline volumes"
	var errs field.ErrorList
	forbid := func(name string, set bool) {
		if set {
			errs = append(errs, field.Forbidden(p.Child(name), text))
		}
	}
	forbid("claimRef", s.ClaimRef != nil)
	forbid("capacity", len(s.Capacity) != 0)
	if s.CSI == nil {
		errs = append(errs, field.Required(p.Child("csi"), "has to be specified in the context of inline volumes"))
	}
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), ""))
	}
	errs = append(errs, volume.ValidateAccessModes(s.AccessModes, p.Child("accessModes"))...)
	if r := s.PersistentVolumeReclaimPolicy; r != "" && r != corev1.PersistentVolumeReclaimRetain {
		errs = append(errs, field.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "may only be "+string(corev1.PersistentVolumeReclaimRetain)+" in the context of inline volumes"))
	}
	forbid("nodeAffinity", s.NodeAffinity != nil)
	errs = append(errs, validateVolumeSource(s, "", p)...)
	forbid("storageClassName", s.StorageClassName != "")
	if m := s.VolumeMode; m != nil && *m != corev1.PersistentVolumeFilesystem {
		errs = append(errs, field.Forbidden(p.Child("volumeMode"), "may not specify volumeMode other than "+string(corev1.PersistentVolumeFilesystem)+" in the context of inline volumes"))
	}
	return errs
}
