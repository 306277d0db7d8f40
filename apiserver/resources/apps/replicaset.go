package apps

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

var (
	replicaSetSpecDocs   = appsv1.ReplicaSetSpec{}.SwaggerDoc()
	replicaSetStatusDocs = appsv1.ReplicaSetStatus{}.SwaggerDoc()
)

// ReplicaSet keeps a number of pods of one template.
var ReplicaSet = resource.Define(resource.Kind[*appsv1.ReplicaSet]{
	Name:  resource.Name{Group: "apps", Version: "v1", Kind: "ReplicaSet", Plural: "replicasets", Short: []string{"rs"}, Categories: []string{"all"}, Namespaced: true},
	List:  &appsv1.ReplicaSetList{},
	Store: "replicasets",
	Default: func(rs *appsv1.ReplicaSet) {
		if rs.Spec.Replicas == nil {
			rs.Spec.Replicas = ptr.To[int32](1)
		}
		podspec.DefaultTemplate(&rs.Spec.Template)
	},
	Strategy: resource.Strategy[*appsv1.ReplicaSet]{
		PrepareForCreate: func(_ context.Context, rs *appsv1.ReplicaSet) {
			rs.Status = appsv1.ReplicaSetStatus{}
			rs.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, rs, old *appsv1.ReplicaSet) {
			rs.Status = old.Status
			if !equality.Semantic.DeepEqual(rs.Spec, old.Spec) {
				rs.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, rs *appsv1.ReplicaSet) field.ErrorList { return validateReplicaSet(rs) },
		ValidateUpdate: func(_ context.Context, rs, old *appsv1.ReplicaSet) field.ErrorList {
			return append(validateReplicaSet(rs), apivalidation.ValidateImmutableField(rs.Spec.Selector, old.Spec.Selector, specPath.Child("selector"))...)
		},
		WarningsOnCreate: func(_ context.Context, rs *appsv1.ReplicaSet) []string {
			return podspec.Warnings(&rs.Spec.Template.Spec, &rs.Spec.Template.ObjectMeta, specPath.Child("template"))
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*appsv1.ReplicaSet]{
		PrepareForUpdate: func(_ context.Context, rs, old *appsv1.ReplicaSet) { rs.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, rs, _ *appsv1.ReplicaSet) field.ErrorList {
			return validateReplicaSetStatus(&rs.Status)
		},
		ResetFields: []string{"spec"},
	},
	Scale: &resource.Scale{
		Replicas:       func(o resource.Object) int32 { return ptr.Deref(o.(*appsv1.ReplicaSet).Spec.Replicas, 0) },
		SetReplicas:    func(o resource.Object, n int32) { o.(*appsv1.ReplicaSet).Spec.Replicas = &n },
		StatusReplicas: func(o resource.Object) int32 { return o.(*appsv1.ReplicaSet).Status.Replicas },
		Selector: func(o resource.Object) (*metav1.LabelSelector, error) {
			return o.(*appsv1.ReplicaSet).Spec.Selector, nil
		},
		ReplicasPath: []string{"spec", "replicas"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Desired", "integer", replicaSetSpecDocs["replicas"]),
		resource.Column("Current", "integer", replicaSetStatusDocs["replicas"]),
		resource.Column("Ready", "integer", replicaSetStatusDocs["readyReplicas"]),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", "string", replicaSetSpecDocs["selector"]),
	},
	Row: func(rs *appsv1.ReplicaSet) []any {
		names, images := core.ContainersAndImages(rs.Spec.Template.Spec.Containers)
		return []any{rs.Name, int64(ptr.Deref(rs.Spec.Replicas, 0)), int64(rs.Status.Replicas), int64(rs.Status.ReadyReplicas), resource.AgeOf(rs), names, images, selectorText(rs.Spec.Selector)}
	},
})

func validateReplicaSet(rs *appsv1.ReplicaSet) field.ErrorList {
	errs := notNegative(*rs.Spec.Replicas, specPath.Child("replicas"))
	errs = append(errs, notNegative(rs.Spec.MinReadySeconds, specPath.Child("minReadySeconds"))...)
	path := specPath.Child("selector")
	if rs.Spec.Selector == nil {
		errs = append(errs, field.Required(path, ""))
	} else {
		errs = append(errs, unversioned.ValidateLabelSelector(rs.Spec.Selector, unversioned.LabelSelectorValidationOptions{}, path)...)
		if len(rs.Spec.Selector.MatchLabels)+len(rs.Spec.Selector.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(path, rs.Spec.Selector, "empty selector is invalid for deployment"))
		}
	}
	return append(errs, validateTemplate(&rs.Spec.Template, rs.Spec.Selector)...)
}

func validateReplicaSetStatus(s *appsv1.ReplicaSetStatus) field.ErrorList {
	path := field.NewPath("status")
	counts := []struct {
		name string
		n    int32
	}{{"replicas", s.Replicas}, {"fullyLabeledReplicas", s.FullyLabeledReplicas}, {"readyReplicas", s.ReadyReplicas}, {"availableReplicas", s.AvailableReplicas}}
	var errs field.ErrorList
	for _, c := range counts {
		errs = append(errs, notNegative(c.n, path.Child(c.name))...)
	}
	for _, c := range counts[1:] {
		if c.n > s.Replicas {
			errs = append(errs, field.Invalid(path.Child(c.name), c.n, "cannot be greater than status.replicas"))
		}
	}
	if s.AvailableReplicas > s.ReadyReplicas {
		errs = append(errs, field.Invalid(path.Child("availableReplicas"), s.AvailableReplicas, "cannot be greater than readyReplicas"))
	}
	return errs
}
