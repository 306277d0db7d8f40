package core

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var (
	controllerSpecDocs   = corev1.ReplicationControllerSpec{}.SwaggerDoc()
	controllerStatusDocs = corev1.ReplicationControllerStatus{}.SwaggerDoc()
	specPath             = field.NewPath("spec")
	statusPath           = field.NewPath("status")
)

// ReplicationController keeps a number of pods of one template: ReplicaSet's ancestor, whose selector is a plain map.
var ReplicationController = resource.Define(resource.Kind[*corev1.ReplicationController]{
	Name:    resource.Name{Version: "v1", Kind: "ReplicationController", Plural: "replicationcontrollers", Short: []string{"rc"}, Categories: []string{"all"}, Namespaced: true},
	List:    &corev1.ReplicationControllerList{},
	Store:   "controllers",
	Default: defaultController,
	Strategy: resource.Strategy[*corev1.ReplicationController]{
		PrepareForCreate: func(_ context.Context, rc *corev1.ReplicationController) {
			rc.Status = corev1.ReplicationControllerStatus{}
			rc.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, rc, old *corev1.ReplicationController) {
			rc.Status = old.Status
			if !equality.Semantic.DeepEqual(rc.Spec, old.Spec) {
				rc.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, rc *corev1.ReplicationController) field.ErrorList {
			return validateController(&rc.Spec)
		},
		ValidateUpdate: func(_ context.Context, rc, _ *corev1.ReplicationController) field.ErrorList {
			return validateController(&rc.Spec)
		},
		WarningsOnCreate: func(_ context.Context, rc *corev1.ReplicationController) []string {
			return append(NameWarnings(rc.Name), controllerWarnings(rc)...)
		},
		WarningsOnUpdate: func(_ context.Context, rc, old *corev1.ReplicationController) []string {
			if rc.Generation == old.Generation {
				return nil
			}
			return controllerWarnings(rc)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*corev1.ReplicationController]{
		PrepareForUpdate: func(_ context.Context, rc, old *corev1.ReplicationController) { rc.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, rc, _ *corev1.ReplicationController) field.ErrorList {
			return validateControllerStatus(&rc.Status)
		},
		ResetFields: []string{"spec"},
	},
	Scale: &resource.Scale{
		Replicas:       func(o resource.Object) int32 { return ptr.Deref(o.(*corev1.ReplicationController).Spec.Replicas, 0) },
		SetReplicas:    func(o resource.Object, n int32) { o.(*corev1.ReplicationController).Spec.Replicas = &n },
		StatusReplicas: func(o resource.Object) int32 { return o.(*corev1.ReplicationController).Status.Replicas },
		Selector: func(o resource.Object) (*metav1.LabelSelector, error) {
			return &metav1.LabelSelector{MatchLabels: o.(*corev1.ReplicationController).Spec.Selector}, nil
		},
		ReplicasPath: []string{"spec", "replicas"},
	},
	Fields: map[string]func(*corev1.ReplicationController) string{
		"status.replicas": func(rc *corev1.ReplicationController) string { return strconv.Itoa(int(rc.Status.Replicas)) },
	},
	ValidateName: rules.LongName,
	Propagation:  resource.Orphan,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Desired", "integer", controllerSpecDocs["replicas"]),
		resource.Column("Current", "integer", controllerStatusDocs["replicas"]),
		resource.Column("Ready", "integer", controllerStatusDocs["readyReplicas"]),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", "string", controllerSpecDocs["selector"]),
	},
	Row: func(rc *corev1.ReplicationController) []any {
		var containers []corev1.Container
		if rc.Spec.Template != nil {
			containers = rc.Spec.Template.Spec.Containers
		}
		names, images := ContainersAndImages(containers)
		return []any{rc.Name, int64(ptr.Deref(rc.Spec.Replicas, 0)), int64(rc.Status.Replicas), int64(rc.Status.ReadyReplicas), resource.AgeOf(rc),
			names, images, labels.FormatLabels(rc.Spec.Selector)}
	},
})

// NameWarnings: a name that its pods' hostnames are made of had better be a DNS label.
func NameWarnings(name string) []string {
	texts := validation.IsDNS1123Label(name)
	if len(texts) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", texts)}
}

func controllerWarnings(rc *corev1.ReplicationController) []string {
	if rc.Spec.Template == nil {
		return nil
	}
	return podspec.Warnings(&rc.Spec.Template.Spec, &rc.Spec.Template.ObjectMeta, specPath.Child("template"))
}

// defaultController: the template's labels stand in for a selector and for labels that are not given.
func defaultController(rc *corev1.ReplicationController) {
	if t := rc.Spec.Template; t != nil {
		if t.Labels != nil && len(rc.Spec.Selector) == 0 {
			rc.Spec.Selector = maps.Clone(t.Labels)
		}
		if t.Labels != nil && len(rc.Labels) == 0 {
			rc.Labels = maps.Clone(t.Labels)
		}
		podspec.DefaultTemplate(t)
	}
	if rc.Spec.Replicas == nil {
		rc.Spec.Replicas = ptr.To[int32](1)
	}
}

func validateController(s *corev1.ReplicationControllerSpec) field.ErrorList {
	var errs field.ErrorList
	if len(s.Selector) == 0 {
		errs = append(errs, field.Required(specPath.Child("selector"), ""))
	}
	errs = append(errs, validateControllerTemplate(s, specPath.Child("template"))...)
	errs = append(errs, rules.NotNegativePtr(specPath.Child("replicas"), s.Replicas)...)
	return append(errs, rules.NotNegative(specPath.Child("minReadySeconds"), s.MinReadySeconds)...)
}

func validateControllerTemplate(s *corev1.ReplicationControllerSpec, path *field.Path) field.ErrorList {
	t := s.Template
	if t == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	if len(s.Selector) > 0 && !labels.SelectorFromSet(s.Selector).Matches(labels.Set(t.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, podspec.ValidateTemplate(t, path)...)
	if p := t.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicationController is not Supported"))
	}
	return errs
}

func validateControllerStatus(s *corev1.ReplicationControllerStatus) field.ErrorList {
	counts := []struct {
		name string
		n    int32
	}{{"replicas", s.Replicas}, {"fullyLabeledReplicas", s.FullyLabeledReplicas}, {"readyReplicas", s.ReadyReplicas}, {"availableReplicas", s.AvailableReplicas}}
	var errs field.ErrorList
	for _, c := range counts {
		errs = append(errs, rules.NotNegative(statusPath.Child(c.name), c.n)...)
	}
	errs = append(errs, rules.NotNegative(statusPath.Child("observedGeneration"), s.ObservedGeneration)...)
	for _, c := range counts[1:] {
		errs = append(errs, rules.NotAbove(statusPath.Child(c.name), c.n, s.Replicas, "cannot be greater than status.replicas")...)
	}
	return append(errs, rules.NotAbove(statusPath.Child("availableReplicas"), s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas")...)
}
