package apps

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

var (
	deploymentSpecDocs   = appsv1.DeploymentSpec{}.SwaggerDoc()
	deploymentStatusDocs = appsv1.DeploymentStatus{}.SwaggerDoc()
)

// Deployment rolls pods from one template to the next.
var Deployment = resource.Define(resource.Kind[*appsv1.Deployment]{
	Name:    resource.Name{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Short: []string{"deploy"}, Categories: []string{"all"}, Namespaced: true},
	List:    &appsv1.DeploymentList{},
	Store:   "deployments",
	Default: defaultDeployment,
	Strategy: resource.Strategy[*appsv1.Deployment]{
		PrepareForCreate: func(_ context.Context, d *appsv1.Deployment) {
			d.Status = appsv1.DeploymentStatus{}
			d.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, d, old *appsv1.Deployment) {
			d.Status = old.Status
			// Annotations count: the revision that a rollback wants is one.
			if !equality.Semantic.DeepEqual(d.Spec, old.Spec) || !equality.Semantic.DeepEqual(d.Annotations, old.Annotations) {
				d.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, d *appsv1.Deployment) field.ErrorList { return validateDeployment(d) },
		ValidateUpdate: func(_ context.Context, d, old *appsv1.Deployment) field.ErrorList {
			return append(validateDeployment(d), apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, specPath.Child("selector"))...)
		},
		WarningsOnCreate: func(_ context.Context, d *appsv1.Deployment) []string { return deploymentWarnings(d) },
		WarningsOnUpdate: func(_ context.Context, d, old *appsv1.Deployment) []string {
			if d.Generation == old.Generation {
				return nil
			}
			return deploymentWarnings(d)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*appsv1.Deployment]{
		PrepareForUpdate: func(_ context.Context, d, old *appsv1.Deployment) { d.Spec, d.Labels = old.Spec, old.Labels },
		ValidateUpdate: func(_ context.Context, d, old *appsv1.Deployment) field.ErrorList {
			return validateDeploymentStatus(&d.Status, &old.Status)
		},
		ResetFields: []string{"spec", "metadata.labels"},
	},
	Scale: &resource.Scale{
		Replicas:       func(o resource.Object) int32 { return ptr.Deref(o.(*appsv1.Deployment).Spec.Replicas, 0) },
		SetReplicas:    func(o resource.Object, n int32) { o.(*appsv1.Deployment).Spec.Replicas = &n },
		StatusReplicas: func(o resource.Object) int32 { return o.(*appsv1.Deployment).Status.Replicas },
		Selector: func(o resource.Object) (*metav1.LabelSelector, error) {
			return o.(*appsv1.Deployment).Spec.Selector, nil
		},
		ReplicasPath: []string{"spec", "replicas"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Ready", "string", "Number of the pod with ready state"),
		resource.Column("Up-to-date", "string", deploymentStatusDocs["updatedReplicas"]),
		resource.Column("Available", "string", deploymentStatusDocs["availableReplicas"]),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", "string", deploymentSpecDocs["selector"]),
	},
	Row: func(d *appsv1.Deployment) []any {
		names, images := core.ContainersAndImages(d.Spec.Template.Spec.Containers)
		return []any{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 0)), int64(d.Status.UpdatedReplicas), int64(d.Status.AvailableReplicas),
			resource.AgeOf(d), names, images, selectorText(d.Spec.Selector)}
	},
})

func deploymentWarnings(d *appsv1.Deployment) []string {
	return podspec.Warnings(&d.Spec.Template.Spec, &d.Spec.Template.ObjectMeta, specPath.Child("template"))
}

func defaultDeployment(d *appsv1.Deployment) {
	s := &d.Spec
	if s.Replicas == nil {
		s.Replicas = ptr.To[int32](1)
	}
	if s.Strategy.Type == "" {
		s.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if s.Strategy.RollingUpdate == nil {
			s.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		if r := s.Strategy.RollingUpdate; r.MaxUnavailable == nil {
			r.MaxUnavailable = ptr.To(intstr.FromString("25%"))
		}
		if r := s.Strategy.RollingUpdate; r.MaxSurge == nil {
			r.MaxSurge = ptr.To(intstr.FromString("25%"))
		}
	}
	if s.RevisionHistoryLimit == nil {
		s.RevisionHistoryLimit = ptr.To[int32](10)
	}
	if s.ProgressDeadlineSeconds == nil {
		s.ProgressDeadlineSeconds = ptr.To[int32](600)
	}
	podspec.DefaultTemplate(&s.Template)
}

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	s := &d.Spec
	errs := notNegative(*s.Replicas, specPath.Child("replicas"))
	errs = append(errs, validateSelector(s.Selector, &s.Template)...)
	errs = append(errs, validateTemplate(&s.Template, s.Selector)...)
	errs = append(errs, validateStrategy(&s.Strategy, specPath.Child("strategy"))...)
	errs = append(errs, notNegative(s.MinReadySeconds, specPath.Child("minReadySeconds"))...)
	if s.RevisionHistoryLimit != nil {
		errs = append(errs, notNegative(*s.RevisionHistoryLimit, specPath.Child("revisionHistoryLimit"))...)
	}
	if p := s.ProgressDeadlineSeconds; p != nil {
		errs = append(errs, notNegative(*p, specPath.Child("progressDeadlineSeconds"))...)
		if *p <= s.MinReadySeconds {
			errs = append(errs, field.Invalid(specPath.Child("progressDeadlineSeconds"), *p, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

func validateStrategy(s *appsv1.DeploymentStrategy, path *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			return field.ErrorList{field.Forbidden(path.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")}
		}
		return nil
	case appsv1.RollingUpdateDeploymentStrategyType:
		if s.RollingUpdate == nil {
			return field.ErrorList{field.Required(path.Child("rollingUpdate"), "this should be defaulted and never be nil")}
		}
		return validateRollingUpdate(s.RollingUpdate, path.Child("rollingUpdate"))
	}
	return field.ErrorList{field.NotSupported(path, s, []appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
}

func validateRollingUpdate(r *appsv1.RollingUpdateDeployment, path *field.Path) field.ErrorList {
	unavailable, surge := ptr.Deref(r.MaxUnavailable, intstr.IntOrString{}), ptr.Deref(r.MaxSurge, intstr.IntOrString{})
	errs := validateCount(unavailable, path.Child("maxUnavailable"))
	errs = append(errs, validateCount(surge, path.Child("maxSurge"))...)
	if value(unavailable) == 0 && value(surge) == 0 {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0"))
	}
	if percent, ok := percentage(unavailable); ok && percent > 100 {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), unavailable, "must not be greater than 100%"))
	}
	return errs
}

func percentage(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(validation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(v.StrVal[:len(v.StrVal)-1])
	return n, err == nil
}

func value(v intstr.IntOrString) int {
	if n, ok := percentage(v); ok {
		return n
	}
	return v.IntValue()
}

func validateCount(v intstr.IntOrString, path *field.Path) field.ErrorList {
	if v.Type == intstr.String {
		var errs field.ErrorList
		for _, text := range validation.IsValidPercent(v.StrVal) {
			errs = append(errs, field.Invalid(path, v, text))
		}
		return errs
	}
	return notNegative(v.IntVal, path)
}

func validateDeploymentStatus(s, old *appsv1.DeploymentStatus) field.ErrorList {
	path := field.NewPath("status")
	errs := apivalidation.ValidateNonnegativeField(s.ObservedGeneration, path.Child("observedGeneration"))
	counts := []struct {
		name string
		n    int32
	}{{"replicas", s.Replicas}, {"updatedReplicas", s.UpdatedReplicas}, {"readyReplicas", s.ReadyReplicas}, {"availableReplicas", s.AvailableReplicas}, {"unavailableReplicas", s.UnavailableReplicas}}
	for _, c := range counts {
		errs = append(errs, notNegative(c.n, path.Child(c.name))...)
	}
	if s.CollisionCount != nil {
		errs = append(errs, notNegative(*s.CollisionCount, path.Child("collisionCount"))...)
	}
	for _, c := range counts[1:4] {
		if c.n > s.Replicas {
			errs = append(errs, field.Invalid(path.Child(c.name), c.n, "cannot be greater than status.replicas"))
		}
	}
	if s.AvailableReplicas > s.ReadyReplicas {
		errs = append(errs, field.Invalid(path.Child("availableReplicas"), s.AvailableReplicas, "cannot be greater than readyReplicas"))
	}
	if ptr.Deref(s.CollisionCount, 0) < ptr.Deref(old.CollisionCount, 0) {
		errs = append(errs, field.Invalid(path.Child("collisionCount"), ptr.Deref(s.CollisionCount, 0), "cannot be decremented"))
	}
	return errs
}
