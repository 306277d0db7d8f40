package storage

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Most parameters of a class, and most bytes in them.
const (
	maxParameters     = 512
	maxParameterBytes = 256 * 1024
)

var classDocs = storagev1.StorageClass{}.SwaggerDoc()

// StorageClass names a sort of storage, and who provides it.
var StorageClass = resource.Define(resource.Kind[*storagev1.StorageClass]{
	Name:  resource.Name{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass", Plural: "storageclasses", Short: []string{"sc"}},
	List:  &storagev1.StorageClassList{},
	Store: "storageclasses",
	Default: func(c *storagev1.StorageClass) {
		if c.ReclaimPolicy == nil {
			c.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimDelete)
		}
		if c.VolumeBindingMode == nil {
			c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingImmediate)
		}
	},
	Strategy: resource.Strategy[*storagev1.StorageClass]{
		Validate: func(_ context.Context, c *storagev1.StorageClass) field.ErrorList { return validateClass(c) },
		ValidateUpdate: func(_ context.Context, c, old *storagev1.StorageClass) field.ErrorList {
			errs := append(validateClass(c), rules.Immutable(field.NewPath("provisioner"), c.Provisioner, old.Provisioner)...)
			errs = append(errs, rules.Immutable(field.NewPath("parameters"), c.Parameters, old.Parameters)...)
			errs = append(errs, rules.Immutable(field.NewPath("reclaimPolicy"), c.ReclaimPolicy, old.ReclaimPolicy)...)
			return append(errs, rules.Immutable(field.NewPath("volumeBindingMode"), c.VolumeBindingMode, old.VolumeBindingMode)...)
		},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Provisioner", "string", classDocs["provisioner"]),
		resource.Column("ReclaimPolicy", "string", classDocs["reclaimPolicy"]),
		resource.Column("VolumeBindingMode", "string", classDocs["volumeBindingMode"]),
		resource.Column("AllowVolumeExpansion", "string", classDocs["allowVolumeExpansion"]),
		resource.AgeColumn,
	},
	Row: func(c *storagev1.StorageClass) []any {
		return []any{c.Name, c.Provisioner, string(ptr.Deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
			string(ptr.Deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate)), ptr.Deref(c.AllowVolumeExpansion, false), resource.AgeOf(c)}
	},
})

// validateProvisioner demands a qualified name, whatever its case.
func validateProvisioner(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	lower := strings.ToLower(name)
	return rules.Invalid(path, lower, validation.IsQualifiedName(lower))
}

func validateParameters(p map[string]string, path *field.Path) field.ErrorList {
	if len(p) > maxParameters {
		return field.ErrorList{field.TooLong(path, "", maxParameters)}
	}
	var errs field.ErrorList
	size := 0
	for k, v := range p {
		if k == "" {
			errs = append(errs, field.Invalid(path, k, "field can not be empty."))
		}
		size += len(k) + len(v)
	}
	if size > maxParameterBytes {
		errs = append(errs, field.TooLong(path, "", maxParameterBytes))
	}
	return errs
}

func validateClass(c *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	if c.Provisioner != "" {
		errs = validateProvisioner(c.Provisioner, field.NewPath("provisioner"))
	}
	errs = append(errs, validateParameters(c.Parameters, field.NewPath("parameters"))...)
	if p := ptr.Deref(c.ReclaimPolicy, ""); p != "" {
		errs = append(errs, rules.Among(field.NewPath("reclaimPolicy"), p, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)...)
	}
	if c.VolumeBindingMode == nil {
		errs = append(errs, field.Required(field.NewPath("volumeBindingMode"), ""))
	} else {
		errs = append(errs, rules.Among(field.NewPath("volumeBindingMode"), *c.VolumeBindingMode, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
	}
	errs = append(errs, validateTopologies(c.AllowedTopologies, field.NewPath("allowedTopologies"))...)
	return append(errs, rules.Required(field.NewPath("provisioner"), c.Provisioner)...)
}

// validateTopologies: terms of labels, each key once in a term, and no term twice.
func validateTopologies(terms []corev1.TopologySelectorTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	var seen []map[string]sets.Set[string]
	for i, t := range terms {
		at := path.Index(i).Child("matchLabelExpressions")
		labels := map[string]sets.Set[string]{}
		for k, r := range t.MatchLabelExpressions {
			errs = append(errs, validateTopology(&r, at.Index(k))...)
			if _, twice := labels[r.Key]; twice {
				errs = append(errs, field.Duplicate(at.Index(k).Child("key"), r.Key))
			}
			labels[r.Key] = sets.New(r.Values...)
		}
		for _, s := range seen {
			if equality.Semantic.DeepEqual(labels, s) {
				errs = append(errs, field.Duplicate(at, ""))
			}
		}
		seen = append(seen, labels)
	}
	return errs
}

func validateTopology(r *corev1.TopologySelectorLabelRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(r.Values) == 0 {
		errs = append(errs, field.Required(path.Child("values"), ""))
	}
	seen := sets.Set[string]{}
	for i, v := range r.Values {
		if seen.Has(v) {
			errs = append(errs, field.Duplicate(path.Child("values").Index(i), v))
		}
		seen.Insert(v)
	}
	return append(errs, unversioned.ValidateLabelName(r.Key, path.Child("key"))...)
}
