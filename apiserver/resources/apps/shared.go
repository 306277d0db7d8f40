package apps

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

var specPath = field.NewPath("spec")

// validateSelector judges a selector that must select something, and the template whose pods it must select.
func validateSelector(s *metav1.LabelSelector, t *corev1.PodTemplateSpec) field.ErrorList {
	path := specPath.Child("selector")
	if s == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	errs := unversioned.ValidateLabelSelector(s, unversioned.LabelSelectorValidationOptions{}, path)
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(path, s, "empty selector is invalid for deployment"))
	}
	return errs
}

// validateTemplate judges a template of pods that run forever.
func validateTemplate(t *corev1.PodTemplateSpec, s *metav1.LabelSelector) field.ErrorList {
	path := specPath.Child("template")
	var errs field.ErrorList
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		errs = append(errs, field.Invalid(specPath.Child("selector"), s, "invalid label selector"))
	} else if !selector.Empty() && !selector.Matches(labels.Set(t.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, podspec.ValidateTemplate(t, path)...)
	if p := t.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicaSet is not Supported"))
	}
	return errs
}

func notNegative(n int32, path *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(n), path)
}

func selectorText(s *metav1.LabelSelector) string { return metav1.FormatLabelSelector(s) }
