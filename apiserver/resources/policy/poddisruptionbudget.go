package policy

import (
	"context"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var specPath = field.NewPath("spec")

// PodDisruptionBudget says how many of an application's pods must stay when pods are evicted.
var PodDisruptionBudget = resource.Define(resource.Kind[*policyv1.PodDisruptionBudget]{
	Name:  resource.Name{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Plural: "poddisruptionbudgets", Short: []string{"pdb"}, Namespaced: true},
	List:  &policyv1.PodDisruptionBudgetList{},
	Store: "poddisruptionbudgets",
	Strategy: resource.Strategy[*policyv1.PodDisruptionBudget]{
		PrepareForCreate: func(_ context.Context, b *policyv1.PodDisruptionBudget) {
			b.Status = policyv1.PodDisruptionBudgetStatus{}
			b.Generation = 1
			stripLegacy(b.Spec.Selector)
		},
		PrepareForUpdate: func(_ context.Context, b, old *policyv1.PodDisruptionBudget) {
			b.Status = old.Status
			if !equality.Semantic.DeepEqual(b.Spec, old.Spec) {
				b.Generation = old.Generation + 1
			}
			if !equality.Semantic.DeepEqual(b.Spec.Selector, old.Spec.Selector) {
				stripLegacy(b.Spec.Selector)
			}
		},
		Validate: func(_ context.Context, b *policyv1.PodDisruptionBudget) field.ErrorList {
			return validateBudget(&b.Spec)
		},
		ValidateUpdate: func(_ context.Context, b, _ *policyv1.PodDisruptionBudget) field.ErrorList {
			return validateBudget(&b.Spec)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*policyv1.PodDisruptionBudget]{
		PrepareForUpdate: func(_ context.Context, b, old *policyv1.PodDisruptionBudget) { b.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, b, _ *policyv1.PodDisruptionBudget) field.ErrorList {
			return validateBudgetStatus(&b.Status)
		},
		ResetFields: []string{"spec"},
	},
	// Upstream has no rule for a budget's metadata beyond everyone's.
	OwnMetadata:  true,
	NeedsVersion: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Min Available", "string", "The minimum number of pods that must be available."),
		resource.Column("Max Unavailable", "string", "The maximum number of pods that may be unavailable."),
		resource.Column("Allowed Disruptions", "integer", "Calculated number of pods that may be disrupted at this time."),
		resource.AgeColumn,
	},
	Row: func(b *policyv1.PodDisruptionBudget) []any {
		return []any{b.Name, countText(b.Spec.MinAvailable), countText(b.Spec.MaxUnavailable), int64(b.Status.DisruptionsAllowed), resource.AgeOf(b)}
	},
})

func countText(v *intstr.IntOrString) string {
	if v == nil {
		return "N/A"
	}
	return v.String()
}

// legacyLabel is what v1beta1 expressed "all" and "none" with; nobody else may.
const legacyLabel = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// stripLegacy takes the label out of a selector that says more than it.
func stripLegacy(s *metav1.LabelSelector) {
	none := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: legacyLabel, Operator: metav1.LabelSelectorOpExists}}}
	if s == nil || equality.Semantic.DeepEqual(*s, none) {
		return
	}
	s.MatchExpressions = slices.DeleteFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == legacyLabel })
}

func validateBudget(s *policyv1.PodDisruptionBudgetSpec) field.ErrorList {
	var errs field.ErrorList
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(specPath, *s, "minAvailable and maxUnavailable cannot be both set"))
	}
	for _, n := range []struct {
		name  string
		value *intstr.IntOrString
	}{{"minAvailable", s.MinAvailable}, {"maxUnavailable", s.MaxUnavailable}} {
		if n.value != nil {
			errs = append(errs, rules.IntOrPercent(specPath.Child(n.name), *n.value)...)
			errs = append(errs, rules.AtMostAll(specPath.Child(n.name), *n.value)...)
		}
	}
	errs = append(errs, rules.Selector(specPath.Child("selector"), s.Selector)...)
	if p := s.UnhealthyPodEvictionPolicy; p != nil {
		errs = append(errs, rules.Among(specPath.Child("unhealthyPodEvictionPolicy"), *p, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)...)
	}
	return errs
}

func validateBudgetStatus(s *policyv1.PodDisruptionBudgetStatus) field.ErrorList {
	path := field.NewPath("status")
	errs := unversioned.ValidateConditions(s.Conditions, path.Child("conditions"))
	errs = append(errs, rules.NotNegative(path.Child("disruptionsAllowed"), s.DisruptionsAllowed)...)
	errs = append(errs, rules.NotNegative(path.Child("currentHealthy"), s.CurrentHealthy)...)
	errs = append(errs, rules.NotNegative(path.Child("desiredHealthy"), s.DesiredHealthy)...)
	return append(errs, rules.NotNegative(path.Child("expectedPods"), s.ExpectedPods)...)
}
