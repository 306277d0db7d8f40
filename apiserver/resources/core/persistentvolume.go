package core

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/goform"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

var (
	volumeSpecDocs   = corev1.PersistentVolumeSpec{}.SwaggerDoc()
	volumeStatusDocs = corev1.PersistentVolumeStatus{}.SwaggerDoc()
)

// PersistentVolume is storage that outlives the pods that use it.
var PersistentVolume = resource.Define(resource.Kind[*corev1.PersistentVolume]{
	Name:    resource.Name{Version: "v1", Kind: "PersistentVolume", Plural: "persistentvolumes", Short: []string{"pv"}},
	List:    &corev1.PersistentVolumeList{},
	Store:   "persistentvolumes",
	Default: defaultVolume,
	Strategy: resource.Strategy[*corev1.PersistentVolume]{
		PrepareForCreate: func(_ context.Context, v *corev1.PersistentVolume) {
			v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: ptr.To(metav1.Now())}
		},
		PrepareForUpdate: func(_ context.Context, v, old *corev1.PersistentVolume) { v.Status = old.Status },
		Validate:         func(_ context.Context, v *corev1.PersistentVolume) field.ErrorList { return validateVolume(v) },
		ValidateUpdate: func(_ context.Context, v, old *corev1.PersistentVolume) field.ErrorList {
			return validateVolumeUpdate(v, old)
		},
		WarningsOnCreate: func(_ context.Context, v *corev1.PersistentVolume) []string { return volumeWarnings(v) },
		WarningsOnUpdate: func(_ context.Context, v, _ *corev1.PersistentVolume) []string { return volumeWarnings(v) },
		ResetFields:      []string{"status"},
	},
	Status: &resource.Strategy[*corev1.PersistentVolume]{
		PrepareForUpdate: func(_ context.Context, v, old *corev1.PersistentVolume) {
			v.Spec = old.Spec
			given, was := v.Status.LastPhaseTransitionTime, old.Status.LastPhaseTransitionTime
			switch {
			case v.Status.Phase == old.Status.Phase && given == nil:
				v.Status.LastPhaseTransitionTime = was
			case v.Status.Phase != old.Status.Phase && (given == nil || given.Equal(was)):
				v.Status.LastPhaseTransitionTime = ptr.To(metav1.Now())
			}
		},
		ResetFields: []string{"spec"},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Capacity", "string", volumeSpecDocs["capacity"]),
		resource.Column("Access Modes", "string", volumeSpecDocs["accessModes"]),
		resource.Column("Reclaim Policy", "string", volumeSpecDocs["persistentVolumeReclaimPolicy"]),
		resource.Column("Status", "string", volumeStatusDocs["phase"]),
		resource.Column("Claim", "string", volumeSpecDocs["claimRef"]),
		resource.Column("StorageClass", "string", "StorageClass of the pv"),
		resource.Column("VolumeAttributesClass", "string", "VolumeAttributesClass of the pv"),
		resource.Column("Reason", "string", volumeStatusDocs["reason"]),
		resource.AgeColumn,
		resource.WideColumn("VolumeMode", "string", volumeSpecDocs["volumeMode"]),
	},
	Row: volumeRow,
})

func volumeRow(v *corev1.PersistentVolume) []any {
	claim := ""
	if c := v.Spec.ClaimRef; c != nil {
		claim = c.Namespace + "/" + c.Name
	}
	phase := string(v.Status.Phase)
	if v.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	return []any{v.Name, size.String(), accessModesText(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy), phase, claim,
		storageClassName(v, &v.Spec.StorageClassName), ptr.Deref(v.Spec.VolumeAttributesClassName, "<unset>"), v.Status.Reason, resource.AgeOf(v),
		string(ptr.Deref(v.Spec.VolumeMode, "<unset>"))}
}

// storageClassName is what the annotation of old says, or else the field.
func storageClassName(o metav1.Object, class *string) string {
	if name, ok := o.GetAnnotations()[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return ptr.Deref(class, "")
}

// accessModesText names modes by their initials, in a fixed order and once each.
func accessModesText(modes []corev1.PersistentVolumeAccessMode) string {
	order := []struct {
		mode corev1.PersistentVolumeAccessMode
		text string
	}{{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"}}
	var out []string
	for _, o := range order {
		if slices.Contains(modes, o.mode) {
			out = append(out, o.text)
		}
	}
	return strings.Join(out, ",")
}

func defaultVolume(v *corev1.PersistentVolume) {
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumePending
	}
	if v.Spec.PersistentVolumeReclaimPolicy == "" {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	if v.Spec.VolumeMode == nil {
		v.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	}
	podspec.RoundUp(v.Spec.Capacity)
	defaultVolumeSource(&v.Spec.PersistentVolumeSource)
}

// mountOptionSources are the sources that options in the annotation of old reach.
var mountOptionSources = []string{"gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"}

func validateVolume(v *corev1.PersistentVolume) field.ErrorList {
	errs := validateVolumeSpec(&v.Spec, v.Name, specPath)
	if _, ok := v.Annotations[corev1.MountOptionAnnotation]; ok {
		if !slices.ContainsFunc(volumeSources(&v.Spec.PersistentVolumeSource), func(s string) bool { return slices.Contains(mountOptionSources, s) }) {
			errs = append(errs, field.Forbidden(field.NewPath("metadata").Child("annotations", corev1.MountOptionAnnotation), "may not specify mount options for this volume type"))
		}
	}
	return errs
}

// volumeWarnings tells of what no longer works or soon will not.
func volumeWarnings(v *corev1.PersistentVolume) []string {
	var out []string
	var root *field.Path
	for _, a := range []struct{ key, text string }{
		{corev1.BetaStorageClassAnnotation, `deprecated since v1.8; use "storageClassName" attribute instead`},
		{corev1.MountOptionAnnotation, `deprecated since v1.31; use "mountOptions" attribute instead`},
	} {
		if _, ok := v.Annotations[a.key]; ok {
			out = append(out, fmt.Sprintf("%s: %s", root.Child("metadata", "annotations").Key(a.key), a.text))
		}
	}
	if v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		out = append(out, fmt.Sprintf("%s: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.", specPath.Child("persistentVolumeReclaimPolicy")))
	}
	s := &v.Spec
	for _, d := range []struct {
		set        bool
		name, text string
	}{
		{s.CephFS != nil, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{s.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{s.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{s.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{s.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{s.RBD != nil, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if d.set {
			out = append(out, fmt.Sprintf("%s: %s", specPath.Child(d.name), d.text))
		}
	}
	return out
}

// validateVolumeUpdate: a volume's source stays; its claim, size and class may change.
func validateVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	errs := append(validateVolume(v), validateVolumeSpec(&v.Spec, v.Name, specPath)...)
	now := &v.Spec.PersistentVolumeSource
	if was := old.Spec.CSI; was != nil && was.ControllerExpandSecretRef == nil && now.CSI != nil && now.CSI.ControllerExpandSecretRef != nil {
		now = now.DeepCopy()
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !equality.Semantic.DeepEqual(*now, old.Spec.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(specPath.Child("persistentvolumesource"), "spec.persistentvolumesource is immutable after creation\n"+goform.Diff(old.Spec.PersistentVolumeSource, *now)))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(v.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if a := old.Spec.NodeAffinity; a != nil && !equality.Semantic.DeepEqual(v.Spec.NodeAffinity, a) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), v.Spec.NodeAffinity, apivalidation.FieldImmutableErrorMsg))
	}
	if old.Spec.VolumeAttributesClassName != nil && v.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(specPath.Child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}
