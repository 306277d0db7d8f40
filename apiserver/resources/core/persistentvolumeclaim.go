package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/goform"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/apiserver/resources/volume"
)

var (
	claimSpecDocs   = corev1.PersistentVolumeClaimSpec{}.SwaggerDoc()
	claimStatusDocs = corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
)

// PersistentVolumeClaim asks for a volume, and stands for the one that it got.
var PersistentVolumeClaim = resource.Define(resource.Kind[*corev1.PersistentVolumeClaim]{
	Name:    resource.Name{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Short: []string{"pvc"}, Namespaced: true},
	List:    &corev1.PersistentVolumeClaimList{},
	Store:   "persistentvolumeclaims",
	Default: DefaultClaim,
	Strategy: resource.Strategy[*corev1.PersistentVolumeClaim]{
		PrepareForCreate: func(_ context.Context, c *corev1.PersistentVolumeClaim) {
			c.Status = corev1.PersistentVolumeClaimStatus{}
			prepareSource(&c.Spec, nil)
		},
		PrepareForUpdate: func(_ context.Context, c, old *corev1.PersistentVolumeClaim) {
			c.Status = old.Status
			prepareSource(&c.Spec, &old.Spec)
			matchSources(&old.Spec)
		},
		Validate: func(_ context.Context, c *corev1.PersistentVolumeClaim) field.ErrorList {
			return volume.ValidateClaim(&c.Spec, specPath)
		},
		ValidateUpdate: func(_ context.Context, c, old *corev1.PersistentVolumeClaim) field.ErrorList {
			return validateClaimUpdate(c, old)
		},
		WarningsOnCreate: func(_ context.Context, c *corev1.PersistentVolumeClaim) []string { return claimWarnings(c) },
		WarningsOnUpdate: func(_ context.Context, c, _ *corev1.PersistentVolumeClaim) []string { return claimWarnings(c) },
		ResetFields:      []string{"status"},
	},
	Status: &resource.Strategy[*corev1.PersistentVolumeClaim]{
		PrepareForUpdate: func(_ context.Context, c, old *corev1.PersistentVolumeClaim) {
			c.Spec = old.Spec
			c.Status.HealthStatus = old.Status.HealthStatus
		},
		ValidateUpdate: func(_ context.Context, c, _ *corev1.PersistentVolumeClaim) field.ErrorList {
			return validateClaimStatus(&c.Status)
		},
		ResetFields: []string{"spec"},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Incomplete:    true, // a new claim is stored without a phase
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Status", "string", claimStatusDocs["phase"]),
		resource.Column("Volume", "string", claimSpecDocs["volumeName"]),
		resource.Column("Capacity", "string", claimStatusDocs["capacity"]),
		resource.Column("Access Modes", "string", claimStatusDocs["accessModes"]),
		resource.Column("StorageClass", "string", "StorageClass of the pvc"),
		resource.Column("VolumeAttributesClass", "string", "VolumeAttributesClass of the pvc"),
		resource.AgeColumn,
		resource.WideColumn("VolumeMode", "string", claimSpecDocs["volumeMode"]),
	},
	Row: claimRow,
})

func claimRow(c *corev1.PersistentVolumeClaim) []any {
	phase := string(c.Status.Phase)
	if c.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	capacity, modes := "", ""
	if c.Spec.VolumeName != "" {
		size := c.Status.Capacity[corev1.ResourceStorage]
		capacity, modes = size.String(), accessModesText(c.Status.AccessModes)
	}
	return []any{c.Name, phase, c.Spec.VolumeName, capacity, modes, storageClassName(c, c.Spec.StorageClassName),
		ptr.Deref(c.Spec.VolumeAttributesClassName, "<unset>"), resource.AgeOf(c), string(ptr.Deref(c.Spec.VolumeMode, "<unset>"))}
}

// DefaultClaim sets what a claim leaves out, also in the templates of a StatefulSet.
func DefaultClaim(c *corev1.PersistentVolumeClaim) {
	if c.Status.Phase == "" {
		c.Status.Phase = corev1.ClaimPending
	}
	if c.Spec.VolumeMode == nil {
		c.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	}
	for _, l := range []corev1.ResourceList{c.Spec.Resources.Limits, c.Spec.Resources.Requests, c.Status.Capacity, c.Status.AllocatedResources} {
		podspec.RoundUp(l)
	}
}

// prepareSource drops sources that the server cannot serve, and shows the rest under both their names.
func prepareSource(s, old *corev1.PersistentVolumeClaimSpec) {
	inUse := old != nil && (old.DataSource != nil || old.DataSourceRef != nil)
	if r := s.DataSourceRef; r != nil && ptr.Deref(r.Namespace, "") != "" && (old == nil || old.DataSourceRef == nil) {
		s.DataSourceRef = nil
	}
	if d := s.DataSource; d != nil && !inUse && s.DataSourceRef == nil {
		group := ptr.Deref(d.APIGroup, "")
		if !(d.Kind == "PersistentVolumeClaim" && group == "") && !(d.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io") {
			s.DataSource = nil
		}
	}
	matchSources(s)
}

// matchSources fills dataSource and dataSourceRef from each other: one is the old name of the other.
func matchSources(s *corev1.PersistentVolumeClaimSpec) {
	clone := func(g *string) *string {
		if g == nil {
			return nil
		}
		return ptr.To(*g)
	}
	switch d, r := s.DataSource, s.DataSourceRef; {
	case d != nil && r == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: clone(d.APIGroup), Kind: d.Kind, Name: d.Name}
	case r != nil && d == nil && ptr.Deref(r.Namespace, "") == "":
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: clone(r.APIGroup), Kind: r.Kind, Name: r.Name}
	}
}

func claimWarnings(c *corev1.PersistentVolumeClaim) []string {
	var out []string
	if _, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		out = append(out, fmt.Sprintf("%s: deprecated since v1.8; use \"storageClassName\" attribute instead", field.NewPath("metadata", "annotations").Key(corev1.BetaStorageClassAnnotation)))
	}
	return append(out, ClaimSpecWarnings(&c.Spec, specPath)...)
}

// ClaimSpecWarnings tells of sizes that are not whole bytes.
func ClaimSpecWarnings(s *corev1.PersistentVolumeClaimSpec, path *field.Path) []string {
	var out []string
	for _, l := range []struct {
		name string
		list corev1.ResourceList
	}{{"requests", s.Resources.Requests}, {"limits", s.Resources.Limits}} {
		if q := l.list[corev1.ResourceStorage]; q.MilliValue()%1000 != 0 {
			out = append(out, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", path.Child("resources", l.name).Key(string(corev1.ResourceStorage)), q.String()))
		}
	}
	return out
}

// validateClaimUpdate: a claim stays as it is; a bound one may grow and change its attributes' class.
func validateClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	errs := volume.ValidateClaim(&c.Spec, specPath)
	was, now := old.Spec.DeepCopy(), c.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	errs = append(errs, allowClassMove(c, old, now)...)
	if c.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = old.Spec.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(*now, *was) {
		errs = append(errs, field.Forbidden(specPath, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+goform.Diff(*was, *now)))
	}
	newSize, oldSize, held := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage], old.Status.Capacity[corev1.ResourceStorage]
	if newSize.Cmp(oldSize) < 0 && newSize.Cmp(held) <= 0 {
		errs = append(errs, field.Forbidden(specPath.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(c.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	return append(errs, validateAttributesChange(c, old)...)
}

// allowClassMove puts the class back where it only moved from its annotation to its field, or was given to a claim without one.
func allowClassMove(c, old *corev1.PersistentVolumeClaim, now *corev1.PersistentVolumeClaimSpec) field.ErrorList {
	const key = corev1.BetaStorageClassAnnotation
	before, had := old.Annotations[key]
	after, has := c.Annotations[key]
	given := old.Spec.StorageClassName == nil && c.Spec.StorageClassName != nil
	if had && given && *c.Spec.StorageClassName == before && (!has || after == before) {
		now.StorageClassName = nil
		return nil
	}
	if given && (!had || *c.Spec.StorageClassName == before) {
		now.StorageClassName = nil
	}
	if after != before {
		return field.ErrorList{field.Invalid(field.NewPath("metadata").Child("annotations").Key(key), after, rules.ImmutableText)}
	}
	return nil
}

func validateAttributesChange(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	path, name := specPath.Child("volumeAttributesClassName"), c.Spec.VolumeAttributesClassName
	switch {
	case ptr.Equal(name, old.Spec.VolumeAttributesClassName) || old.Status.CurrentVolumeAttributesClassName == nil:
		return nil
	case name == nil:
		return field.ErrorList{field.Forbidden(path, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")}
	case *name == "":
		return field.ErrorList{field.Forbidden(path, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")}
	}
	return nil
}
