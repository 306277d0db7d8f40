package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateSpread judges how pods are spread over the cluster.
func validateSpread(cs []corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range cs {
		at := p.Index(i)
		errs = append(errs, positive(at.Child("maxSkew"), c.MaxSkew)...)
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		}
		errs = append(errs, amongPtr(at.Child("whenUnsatisfiable"), &c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
		again := slices.ContainsFunc(cs[i+1:], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		})
		if again {
			errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		if n := c.MinDomains; n != nil {
			errs = append(errs, positive(at.Child("minDomains"), *n)...)
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(at.Child("minDomains"), n, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
			}
		}
		errs = append(errs, amongPtr(at.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
		errs = append(errs, amongPtr(at.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
		errs = append(errs, validateLabelKeys(c.MatchLabelKeys, nil, c.LabelSelector, at)...)
		errs = append(errs, unversioned.ValidateLabelSelector(c.LabelSelector, unversioned.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
	}
	return errs
}

func positive(p *field.Path, n int32) field.ErrorList {
	if n <= 0 {
		return field.ErrorList{field.Invalid(p, n, "must be greater than zero")}
	}
	return nil
}

// validateLabelKeys judges keys whose values are the pod's own: alike, or different.
func validateLabelKeys(match, mismatch []string, s *metav1.LabelSelector, p *field.Path) field.ErrorList {
	errs := validateKeys(match, s, p.Child("matchLabelKeys"))
	errs = append(errs, validateKeys(mismatch, s, p.Child("mismatchLabelKeys"))...)
	if s != nil {
		// The server adds an expression for each key; a second one for a key contradicts it.
		seen := sets.KeySet(s.MatchLabels)
		for _, e := range s.MatchExpressions {
			if i := slices.Index(match, e.Key); i >= 0 && seen.Has(e.Key) {
				errs = append(errs, field.Invalid(p.Index(i), e.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen.Insert(e.Key)
		}
	}
	for i, k := range match {
		if slices.Contains(mismatch, k) {
			errs = append(errs, field.Invalid(p.Child("matchLabelKeys").Index(i), k, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func validateKeys(keys []string, s *metav1.LabelSelector, p *field.Path) field.ErrorList {
	if len(keys) > 0 && s == nil {
		return field.ErrorList{field.Forbidden(p, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, k := range keys {
		errs = append(errs, unversioned.ValidateLabelName(k, p.Index(i))...)
	}
	return errs
}

// validateGates judges what a pod waits for: before it counts as ready, and before it is placed.
func validateGates(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, g := range s.ReadinessGates {
		errs = append(errs, invalid(p.Child("readinessGates").Index(i).Child("conditionType"), string(g.ConditionType), validation.IsQualifiedName(string(g.ConditionType)))...)
	}
	seen := sets.Set[string]{}
	for i, g := range s.SchedulingGates {
		at := p.Child("schedulingGates").Index(i)
		errs = append(errs, invalid(at, g.Name, validation.IsQualifiedName(g.Name))...)
		if seen.Has(g.Name) {
			errs = append(errs, field.Duplicate(at, g.Name))
		}
		seen.Insert(g.Name)
	}
	return errs
}
