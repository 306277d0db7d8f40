package apiextensions

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Definition is the CustomResourceDefinition.
var Definition = resource.Define(resource.Kind[*apiextensionsv1.CustomResourceDefinition]{
	Name: resource.Name{Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition",
		Plural: "customresourcedefinitions", Short: []string{"crd", "crds"}, Categories: []string{"api-extensions"}},
	List:     &apiextensionsv1.CustomResourceDefinitionList{},
	Store:    "apiextensions.k8s.io/customresourcedefinitions",
	StoredAs: apiextensionsv1beta1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
	Form:     &resource.Form{Marshal: marshal, Unmarshal: unmarshal},
	Default:  apiextensionsv1.SetObjectDefaults_CustomResourceDefinition,
	Strategy: resource.Strategy[*apiextensionsv1.CustomResourceDefinition]{
		PrepareForCreate: func(_ context.Context, d *apiextensionsv1.CustomResourceDefinition) {
			d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
			d.Generation = 1
			rememberStored(d)
		},
		PrepareForUpdate: func(_ context.Context, d, old *apiextensionsv1.CustomResourceDefinition) {
			d.Status = *old.Status.DeepCopy()
			if !equality.Semantic.DeepEqual(d.Spec, old.Spec) {
				d.Generation = old.Generation + 1
			}
			rememberStored(d)
		},
		Validate: func(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
			return judge(d, func(n *apiextensions.CustomResourceDefinition) field.ErrorList { return validateCreate(ctx, n) })
		},
		ValidateUpdate: func(ctx context.Context, d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
			return judgeBoth(d, old, func(n, o *apiextensions.CustomResourceDefinition) field.ErrorList { return validateUpdate(ctx, n, o) })
		},
		WarningsOnCreate: func(_ context.Context, d *apiextensionsv1.CustomResourceDefinition) []string { return warnings(d, nil) },
		WarningsOnUpdate: func(_ context.Context, d, old *apiextensionsv1.CustomResourceDefinition) []string {
			return warnings(d, old)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*apiextensionsv1.CustomResourceDefinition]{
		PrepareForUpdate: func(_ context.Context, d, old *apiextensionsv1.CustomResourceDefinition) {
			d.Spec = *old.Spec.DeepCopy()
		},
		ValidateUpdate: func(ctx context.Context, d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
			return judgeBoth(d, old, func(n, o *apiextensions.CustomResourceDefinition) field.ErrorList {
				return validateStatusUpdate(ctx, n, o)
			})
		},
		ResetFields: []string{"spec"},
	},
	OwnMetadata: true, NeedsVersion: true, ReturnDeleted: true,
	BeginDelete: beginDelete, Structure: structure,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Scope", "string", "Cluster/Namespaced"),
		resource.Column("Versions", "string", "Served versions"),
		resource.Column("Created At", "date", metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]),
		resource.WideColumn("Group", "string", "API group"),
		resource.WideColumn("Kind", "string", "CustomResource kind"),
		resource.WideColumn("ShortNames", "string", "Short names"),
		resource.WideColumn("Established", "boolean", "Established status"),
	},
	Row: func(d *apiextensionsv1.CustomResourceDefinition) []any {
		return []any{d.Name, string(d.Spec.Scope), strings.Join(servedVersions(d), ","), d.CreationTimestamp.UTC().Format(time.RFC3339),
			d.Spec.Group, d.Spec.Names.Kind, strings.Join(d.Spec.Names.ShortNames, ","), IsTrue(d, apiextensionsv1.Established)}
	},
})

// servedVersions lists the served versions, the stored one marked.
func servedVersions(d *apiextensionsv1.CustomResourceDefinition) []string {
	var out []string
	for _, v := range d.Spec.Versions {
		switch {
		case v.Served && v.Storage:
			out = append(out, v.Name+"(storage)")
		case v.Served:
			out = append(out, v.Name)
		}
	}
	slices.Sort(out)
	return out
}

// rememberStored notes the version that is stored from now on.
func rememberStored(d *apiextensionsv1.CustomResourceDefinition) {
	for _, v := range d.Spec.Versions {
		if v.Storage {
			if !slices.Contains(d.Status.StoredVersions, v.Name) {
				d.Status.StoredVersions = append(d.Status.StoredVersions, v.Name)
			}
			return
		}
	}
}

// beginDelete holds a definition until its objects are gone.
func beginDelete(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	d.DeletionTimestamp = &now
	if !slices.Contains(d.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		d.Finalizers = append(d.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	SetCondition(d, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	}, now)
}
