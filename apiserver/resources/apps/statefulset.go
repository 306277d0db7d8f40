package apps

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// StatefulSet keeps pods that have names and claims of their own.
var StatefulSet = resource.Define(resource.Kind[*appsv1.StatefulSet]{
	Name:    resource.Name{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Short: []string{"sts"}, Categories: []string{"all"}, Namespaced: true},
	List:    &appsv1.StatefulSetList{},
	Store:   "statefulsets",
	Default: defaultStatefulSet,
	Strategy: resource.Strategy[*appsv1.StatefulSet]{
		PrepareForCreate: func(_ context.Context, s *appsv1.StatefulSet) {
			s.Status = appsv1.StatefulSetStatus{}
			s.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, s, old *appsv1.StatefulSet) {
			s.Status = old.Status
			if !equality.Semantic.DeepEqual(s.Spec, old.Spec) {
				s.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, s *appsv1.StatefulSet) field.ErrorList {
			return validateStatefulSet(&s.Spec, true)
		},
		ValidateUpdate: func(_ context.Context, s, old *appsv1.StatefulSet) field.ErrorList {
			return validateStatefulSetUpdate(s, old)
		},
		WarningsOnCreate: func(_ context.Context, s *appsv1.StatefulSet) []string { return statefulSetWarnings(s, true, "") },
		WarningsOnUpdate: func(_ context.Context, s, old *appsv1.StatefulSet) []string {
			return statefulSetWarnings(s, s.Generation != old.Generation, "Spec")
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*appsv1.StatefulSet]{
		PrepareForUpdate: func(_ context.Context, s, old *appsv1.StatefulSet) { s.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, s, old *appsv1.StatefulSet) field.ErrorList {
			return validateStatefulSetStatus(&s.Status, &old.Status)
		},
		ResetFields: []string{"spec"},
	},
	Scale: &resource.Scale{
		Replicas:       func(o resource.Object) int32 { return ptr.Deref(o.(*appsv1.StatefulSet).Spec.Replicas, 0) },
		SetReplicas:    func(o resource.Object, n int32) { o.(*appsv1.StatefulSet).Spec.Replicas = &n },
		StatusReplicas: func(o resource.Object) int32 { return o.(*appsv1.StatefulSet).Status.Replicas },
		Selector: func(o resource.Object) (*metav1.LabelSelector, error) {
			return o.(*appsv1.StatefulSet).Spec.Selector, nil
		},
		ReplicasPath: []string{"spec", "replicas"},
	},
	ValidateName: apivalidation.NameIsDNSLabel,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Ready", "string", "Number of the pod with ready state"),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
	},
	Row: func(s *appsv1.StatefulSet) []any {
		names, images := core.ContainersAndImages(s.Spec.Template.Spec.Containers)
		return []any{s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, ptr.Deref(s.Spec.Replicas, 0)), resource.AgeOf(s), names, images}
	},
})

// statefulSetWarnings; sub is what the path of a claim's template has after its index.
func statefulSetWarnings(s *appsv1.StatefulSet, template bool, sub string) []string {
	var out []string
	if template {
		out = podspec.Warnings(&s.Spec.Template.Spec, &s.Spec.Template.ObjectMeta, specPath.Child("template"))
	}
	for i := range s.Spec.VolumeClaimTemplates {
		path := specPath.Child("volumeClaimTemplates").Index(i)
		if sub != "" {
			path = path.Child(sub)
		}
		out = append(out, core.ClaimSpecWarnings(&s.Spec.VolumeClaimTemplates[i].Spec, path)...)
	}
	if ptr.Deref(s.Spec.RevisionHistoryLimit, 0) < 0 {
		out = append(out, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return out
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	spec := &s.Spec
	if spec.PodManagementPolicy == "" {
		spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	strategy := &spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if strategy.RollingUpdate == nil {
			strategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	if r := strategy.RollingUpdate; r != nil && strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		fillPtr(&r.Partition, 0)
		fillPtr(&r.MaxUnavailable, intstr.FromInt32(1))
	}
	fillPtr(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	for _, p := range []*appsv1.PersistentVolumeClaimRetentionPolicyType{&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, &spec.PersistentVolumeClaimRetentionPolicy.WhenScaled} {
		if *p == "" {
			*p = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
		}
	}
	fillPtr(&spec.Replicas, 1)
	fillPtr(&spec.RevisionHistoryLimit, 10)
	podspec.DefaultTemplate(&spec.Template)
	for i := range spec.VolumeClaimTemplates {
		defaultClaimTemplate(&spec.VolumeClaimTemplates[i])
	}
}

// defaultClaimTemplate: a claim inside a set is a whole object, and says so.
func defaultClaimTemplate(c *corev1.PersistentVolumeClaim) {
	core.DefaultClaim(c)
	if c.APIVersion == "" {
		c.APIVersion = "v1"
	}
	if c.Kind == "" {
		c.Kind = "PersistentVolumeClaim"
	}
}

func fillPtr[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
