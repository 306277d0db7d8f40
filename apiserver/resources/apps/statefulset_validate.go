package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/apiserver/resources/volume"
)

// validateStatefulSet judges a spec; what never changes is judged when it is new.
func validateStatefulSet(s *appsv1.StatefulSetSpec, created bool) field.ErrorList {
	var errs field.ErrorList
	switch path := specPath.Child("podManagementPolicy"); s.PodManagementPolicy {
	case "":
		errs = append(errs, field.Required(path, ""))
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	default:
		errs = append(errs, field.Invalid(path, s.PodManagementPolicy, fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	errs = append(errs, validateSetStrategy(&s.UpdateStrategy, specPath.Child("updateStrategy"))...)
	if p := s.PersistentVolumeClaimRetentionPolicy; p != nil {
		path := specPath.Child("persistentVolumeClaimRetentionPolicy")
		keep := []appsv1.PersistentVolumeClaimRetentionPolicyType{appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
		errs = append(errs, rules.Among(path.Child("whenDeleted"), p.WhenDeleted, keep...)...)
		errs = append(errs, rules.Among(path.Child("whenScaled"), p.WhenScaled, keep...)...)
	}
	if created {
		for i := range s.VolumeClaimTemplates {
			errs = append(errs, volume.ValidateClaim(&s.VolumeClaimTemplates[i].Spec, specPath.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
		}
	}
	errs = append(errs, rules.NotNegativePtr(specPath.Child("replicas"), s.Replicas)...)
	errs = append(errs, rules.NotNegative(specPath.Child("minReadySeconds"), s.MinReadySeconds)...)
	if s.Ordinals != nil {
		errs = append(errs, rules.NotNegative(specPath.Child("ordinals.start"), s.Ordinals.Start)...)
	}
	if created && s.ServiceName != "" {
		errs = append(errs, rules.Invalid(specPath.Child("serviceName"), s.ServiceName, validation.IsDNS1123Label(s.ServiceName))...)
	}
	return append(errs, validateSetTemplate(s)...)
}

func validateSetStrategy(u *appsv1.StatefulSetUpdateStrategy, path *field.Path) field.ErrorList {
	switch u.Type {
	case "":
		return field.ErrorList{field.Required(path, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if u.RollingUpdate != nil {
			return field.ErrorList{field.Invalid(path.Child("rollingUpdate"), u.RollingUpdate, fmt.Sprintf("only allowed for updateStrategy '%s'", appsv1.RollingUpdateStatefulSetStrategyType))}
		}
		return nil
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if u.RollingUpdate == nil {
			return nil
		}
		return validateSetRollingUpdate(u.RollingUpdate, path.Child("rollingUpdate"))
	}
	return field.ErrorList{field.Invalid(path, *u, fmt.Sprintf("must be '%s' or '%s'", appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType))}
}

func validateSetRollingUpdate(r *appsv1.RollingUpdateStatefulSetStrategy, path *field.Path) field.ErrorList {
	errs := rules.NotNegativePtr(path.Child("partition"), r.Partition)
	if r.MaxUnavailable == nil {
		return errs
	}
	at, v := path.Child("maxUnavailable"), *r.MaxUnavailable
	errs = append(errs, rules.IntOrPercent(at, v)...)
	if value(v) == 0 {
		errs = append(errs, field.Invalid(at, v, "cannot be 0"))
	}
	return append(errs, rules.AtMostAll(at, v)...)
}

// validateSetTemplate judges the selector and the template, to which the set adds a volume for each claim and a host's name.
func validateSetTemplate(s *appsv1.StatefulSetSpec) field.ErrorList {
	path, at := specPath.Child("template"), specPath.Child("selector")
	var errs field.ErrorList
	if s.Selector == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, rules.Selector(at, s.Selector)...)
		if len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(at, s.Selector, "empty selector is invalid for statefulset"))
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err != nil {
		errs = append(errs, field.Invalid(at, s.Selector, ""))
	} else {
		if !selector.Empty() && !selector.Matches(labels.Set(s.Template.Labels)) {
			errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
		}
		errs = append(errs, podspec.ValidateTemplate(asRun(s), path)...)
		errs = append(errs, unversioned.ValidateLabels(s.Template.Labels, path.Child("labels"))...)
		errs = append(errs, apivalidation.ValidateAnnotations(s.Template.Annotations, path.Child("annotations"))...)
	}
	if p := s.Template.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if s.Template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in StatefulSet is not Supported"))
	}
	return errs
}

// asRun is the template as the set's pods have it.
func asRun(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	t := s.Template.DeepCopy()
	t.Spec.Subdomain, t.Spec.Hostname = "", ""
	if len(s.VolumeClaimTemplates) == 0 {
		return t
	}
	var volumes []corev1.Volume
	claimed := map[string]bool{}
	for _, c := range s.VolumeClaimTemplates {
		if claimed[c.Name] {
			continue
		}
		claimed[c.Name] = true
		volumes = append(volumes, corev1.Volume{Name: c.Name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}})
	}
	for _, v := range t.Spec.Volumes {
		if !claimed[v.Name] {
			volumes = append(volumes, v)
		}
	}
	t.Spec.Volumes = volumes
	return t
}

func validateStatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	errs := validateStatefulSet(&s.Spec, false)
	errs = append(errs, rules.Immutable(specPath.Child("selector"), s.Spec.Selector, old.Spec.Selector)...)
	errs = append(errs, rules.Immutable(specPath.Child("volumeClaimTemplates"), s.Spec.VolumeClaimTemplates, old.Spec.VolumeClaimTemplates)...)
	errs = append(errs, rules.Immutable(specPath.Child("serviceName"), s.Spec.ServiceName, old.Spec.ServiceName)...)
	return append(errs, rules.Immutable(specPath.Child("podManagementPolicy"), s.Spec.PodManagementPolicy, old.Spec.PodManagementPolicy)...)
}

func validateStatefulSetStatus(s, old *appsv1.StatefulSetStatus) field.ErrorList {
	path := field.NewPath("status")
	counts := []struct {
		name string
		n    int32
	}{{"replicas", s.Replicas}, {"readyReplicas", s.ReadyReplicas}, {"currentReplicas", s.CurrentReplicas}, {"updatedReplicas", s.UpdatedReplicas}, {"availableReplicas", s.AvailableReplicas}}
	var errs field.ErrorList
	for _, c := range counts {
		errs = append(errs, rules.NotNegative(path.Child(c.name), c.n)...)
	}
	errs = append(errs, rules.NotNegative(path.Child("observedGeneration"), s.ObservedGeneration)...)
	errs = append(errs, rules.NotNegativePtr(path.Child("collisionCount"), s.CollisionCount)...)
	for _, c := range counts[1:] {
		errs = append(errs, rules.NotAbove(path.Child(c.name), c.n, s.Replicas, "cannot be greater than status.replicas")...)
	}
	errs = append(errs, rules.NotAbove(path.Child("availableReplicas"), s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than status.readyReplicas")...)
	return append(errs, validateCollisions(s.CollisionCount, old.CollisionCount, path)...)
}

// validateCollisions: the count of names that collided only grows.
func validateCollisions(now, was *int32, path *field.Path) field.ErrorList {
	if was != nil && (now == nil || *now < *was) {
		return field.ErrorList{field.Invalid(path.Child("collisionCount"), ptr.Deref(now, 0), "cannot be decremented")}
	}
	return nil
}
