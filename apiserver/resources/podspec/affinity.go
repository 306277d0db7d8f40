package podspec

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateAffinity judges where a pod wants to be, and with whom.
func validateAffinity(a *corev1.Affinity, p *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		errs = append(errs, validateNodeAffinity(n, p.Child("nodeAffinity"))...)
	}
	if x := a.PodAffinity; x != nil {
		errs = append(errs, validatePodTerms(x.RequiredDuringSchedulingIgnoredDuringExecution, x.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAffinity"))...)
	}
	if x := a.PodAntiAffinity; x != nil {
		errs = append(errs, validatePodTerms(x.RequiredDuringSchedulingIgnoredDuringExecution, x.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAntiAffinity"))...)
	}
	return errs
}

const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"

func validateNodeAffinity(n *corev1.NodeAffinity, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := n.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		errs = append(errs, ValidateNodeSelector(s, p.Child(required))...)
	}
	for i, t := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		at := p.Child(preferred).Index(i)
		errs = append(errs, validateWeight(t.Weight, at)...)
		errs = append(errs, validateNodeTerm(&t.Preference, at.Child("preference"))...)
	}
	return errs
}

// ValidateNodeSelector judges terms one of which a node must meet.
func ValidateNodeSelector(s *corev1.NodeSelector, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := p.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		errs = append(errs, field.Required(at, "must have at least one node selector term"))
	}
	for i, t := range s.NodeSelectorTerms {
		errs = append(errs, validateNodeTerm(&t, at.Index(i))...)
	}
	return errs
}

func validateWeight(w int32, p *field.Path) field.ErrorList {
	if w < 1 || w > 100 {
		return field.ErrorList{field.Invalid(p.Child("weight"), w, "must be in the range 1-100")}
	}
	return nil
}

func validateNodeTerm(t *corev1.NodeSelectorTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range t.MatchExpressions {
		errs = append(errs, validateRequirement(&r, p.Child("matchExpressions").Index(i))...)
	}
	for i, r := range t.MatchFields {
		at := p.Child("matchFields").Index(i)
		if r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn {
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		} else if len(r.Values) != 1 {
			errs = append(errs, field.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
		if r.Key != metav1.ObjectNameField {
			errs = append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
		}
	}
	return errs
}

func validateRequirement(r *corev1.NodeSelectorRequirement, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(p.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Forbidden(p.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(p.Child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(p.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	errs = append(errs, unversioned.ValidateLabelName(r.Key, p.Child("key"))...)
	for i, v := range r.Values {
		errs = append(errs, invalid(p.Child("values").Index(i), v, validation.IsValidLabelValue(v))...)
	}
	return errs
}

func validatePodTerms(must []corev1.PodAffinityTerm, wish []corev1.WeightedPodAffinityTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range must {
		errs = append(errs, validatePodTerm(&t, p.Child(required).Index(i))...)
	}
	for i, t := range wish {
		at := p.Child(preferred).Index(i)
		errs = append(errs, validateWeight(t.Weight, at)...)
		errs = append(errs, validatePodTerm(&t.PodAffinityTerm, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodTerm(t *corev1.PodAffinityTerm, p *field.Path) field.ErrorList {
	o := unversioned.LabelSelectorValidationOptions{}
	errs := unversioned.ValidateLabelSelector(t.LabelSelector, o, p.Child("labelSelector"))
	errs = append(errs, unversioned.ValidateLabelSelector(t.NamespaceSelector, o, p.Child("namespaceSelector"))...)
	for _, n := range t.Namespaces {
		errs = append(errs, invalid(p.Child("namespace"), n, apivalidation.ValidateNamespaceName(n, false))...)
	}
	errs = append(errs, validateLabelKeys(t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector, p)...)
	if t.TopologyKey == "" {
		errs = append(errs, field.Required(p.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, unversioned.ValidateLabelName(t.TopologyKey, p.Child("topologyKey"))...)
}
