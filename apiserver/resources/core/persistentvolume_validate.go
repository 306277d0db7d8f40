package core

import (
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/apiserver/resources/volume"
)

func validateVolumeSpec(s *corev1.PersistentVolumeSpec, name string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), ""))
	}
	errs = append(errs, volume.ValidateAccessModes(s.AccessModes, p.Child("accessModes"))...)
	errs = append(errs, validateCapacity(s.Capacity, p.Child("capacity"))...)
	if s.PersistentVolumeReclaimPolicy != "" {
		errs = append(errs, rules.Among(p.Child("persistentVolumeReclaimPolicy"), s.PersistentVolumeReclaimPolicy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)...)
	}
	if a := s.NodeAffinity; a != nil {
		if a.Required != nil {
			errs = append(errs, podspec.ValidateNodeSelector(a.Required, p.Child("nodeAffinity", "required"))...)
		} else {
			errs = append(errs, field.Required(p.Child("nodeAffinity", "required"), "must specify required node constraints"))
		}
	}
	errs = append(errs, validateVolumeSource(s, name, p)...)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	if s.StorageClassName != "" {
		errs = append(errs, rules.Invalid(p.Child("storageClassName"), s.StorageClassName, apivalidation.NameIsDNSSubdomain(s.StorageClassName, false))...)
	}
	if s.VolumeMode != nil {
		errs = append(errs, rules.Among(p.Child("volumeMode"), *s.VolumeMode, volume.Modes...)...)
	}
	return append(errs, validateAttributesClass(s, p)...)
}

func validateAttributesClass(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	if s.VolumeAttributesClassName == nil {
		return nil
	}
	var errs field.ErrorList
	at, name := p.Child("volumeAttributesClassName"), *s.VolumeAttributesClassName
	if name == "" {
		errs = append(errs, field.Required(at, "an empty string is disallowed"))
	} else {
		errs = append(errs, rules.Invalid(at, name, apivalidation.NameIsDNSSubdomain(name, false))...)
	}
	if s.CSI == nil {
		errs = append(errs, field.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName"))
	}
	return errs
}

func validateCapacity(l corev1.ResourceList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(l) == 0 {
		errs = append(errs, field.Required(p, ""))
	}
	if !has(l, corev1.ResourceStorage) || len(l) > 1 {
		errs = append(errs, field.NotSupported(p, l, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for name, q := range l {
		errs = append(errs, validateBasic(q, p.Key(string(name)))...)
		errs = append(errs, rules.PositiveQuantity(p.Key(string(name)), q)...)
	}
	return errs
}

// sourceOrder is the order in which sources are looked at; the first that is set is the volume's.
var sourceOrder = []string{"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume",
	"azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"}

// volumeSources names the sources that are set, in order.
func volumeSources(s *corev1.PersistentVolumeSource) []string {
	v := reflect.ValueOf(s).Elem()
	var out []string
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Index(sourceOrder, a) - slices.Index(sourceOrder, b) })
	return out
}

// validateVolumeSource: exactly one source, and what it must say.
func validateVolumeSource(s *corev1.PersistentVolumeSpec, name string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, source := range volumeSources(&s.PersistentVolumeSource) {
		if i > 0 && source != "flexVolume" {
			if source == "cephfs" {
				source = "cephFS"
			}
			errs = append(errs, field.Forbidden(p.Child(source), "may not specify more than 1 volume type"))
			continue
		}
		at := p.Child(source)
		if source == "gcePersistentDisk" {
			at = p.Child("persistentDisk")
		}
		errs = append(errs, validateDisk(&s.PersistentVolumeSource, source, name, at)...)
		if source == "local" && s.NodeAffinity == nil {
			errs = append(errs, field.Required(p.Child("nodeAffinity"), "Local volume requires node affinity"))
		}
	}
	if len(volumeSources(&s.PersistentVolumeSource)) == 0 {
		errs = append(errs, field.Required(p, "must specify a volume type"))
	}
	return errs
}

// validateDisk judges one source.
func validateDisk(s *corev1.PersistentVolumeSource, source, name string, p *field.Path) field.ErrorList {
	switch source {
	case "hostPath":
		return podspec.ValidateHostPath(s.HostPath, p)
	case "nfs":
		return podspec.ValidateNFS(s.NFS, p)
	case "local":
		if s.Local.Path == "" {
			return field.ErrorList{field.Required(p.Child("path"), "")}
		}
		return noBackstep(s.Local.Path, p.Child("path"))
	case "csi":
		return validateCSISource(s.CSI, p)
	case "iscsi":
		return validateISCSI(s.ISCSI, name, p)
	case "fc":
		return volume.ValidateFC(s.FC, p)
	case "flexVolume":
		return validateFlex(s.FlexVolume, p)
	}
	return validateRetired(s, source, p)
}

func noBackstep(v string, p *field.Path) field.ErrorList {
	if slices.Contains(strings.Split(v, "/"), "..") {
		return field.ErrorList{field.Invalid(p, v, "must not contain '..'")}
	}
	return nil
}

// ValidateDriverName demands the name of a storage driver: a DNS subdomain whatever its case, of at most 63 characters.
func ValidateDriverName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	var errs field.ErrorList
	if len(name) > validation.DNS1123LabelMaxLength {
		errs = append(errs, field.TooLong(p, "", validation.DNS1123LabelMaxLength))
	}
	return append(errs, rules.Invalid(p, name, validation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}

func validateCSISource(c *corev1.CSIPersistentVolumeSource, p *field.Path) field.ErrorList {
	errs := ValidateDriverName(c.Driver, p.Child("driver"))
	errs = append(errs, rules.Required(p.Child("volumeHandle"), c.VolumeHandle)...)
	for _, ref := range []struct {
		name string
		ref  *corev1.SecretReference
	}{{"controllerPublishSecretRef", c.ControllerPublishSecretRef}, {"controllerExpandSecretRef", c.ControllerExpandSecretRef},
		{"nodePublishSecretRef", c.NodePublishSecretRef}, {"nodeExpandSecretRef", c.NodeExpandSecretRef}} {
		if ref.ref != nil {
			errs = append(errs, validateSecretReference(ref.ref, p.Child(ref.name))...)
		}
	}
	return errs
}

func validateSecretReference(r *corev1.SecretReference, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("name"), r.Name)
	if r.Name != "" {
		errs = append(errs, rules.Invalid(p.Child("name"), r.Name, validation.IsDNS1123Subdomain(r.Name))...)
	}
	if r.Namespace == "" {
		return append(errs, field.Required(p.Child("namespace"), ""))
	}
	return append(errs, rules.Invalid(p.Child("namespace"), r.Namespace, validation.IsDNS1123Label(r.Namespace))...)
}
