package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Most rules, patterns, exit codes and bytes of indexes in the policies of a job.
const (
	maxFailureRules     = 20
	maxPatterns         = 20
	maxExitCodes        = 255
	maxSuccessRules     = 20
	maxSucceededIndexes = 64 * 1024
)

var (
	actions   = []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore}
	operators = []batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}
	statuses  = []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
)

// validateFailurePolicy judges the rules of what a failed pod means to its job.
func validateFailurePolicy(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("rules")
	if n := len(s.PodFailurePolicy.Rules); n > maxFailureRules {
		errs = append(errs, field.TooMany(at, n, maxFailureRules))
	}
	var names []string
	for _, c := range slices.Concat(s.Template.Spec.Containers, s.Template.Spec.InitContainers) {
		names = append(names, c.Name)
	}
	for i := range s.PodFailurePolicy.Rules {
		errs = append(errs, validateFailureRule(s, &s.PodFailurePolicy.Rules[i], names, at.Index(i))...)
	}
	return errs
}

// among demands a value of a set, and says which there are when there is none.
func among[T ~string](path *field.Path, v T, all []T) field.ErrorList {
	switch {
	case v == "":
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q", all))}
	case !slices.Contains(all, v):
		return field.ErrorList{field.NotSupported(path, v, all)}
	}
	return nil
}

func validateFailureRule(s *batchv1.JobSpec, r *batchv1.PodFailurePolicyRule, names []string, path *field.Path) field.ErrorList {
	errs := among(path.Child("action"), r.Action, actions)
	if r.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Invalid(path.Child("action"), r.Action, "requires the backoffLimitPerIndex to be set"))
	}
	if r.OnExitCodes != nil {
		errs = append(errs, validateExitCodes(r.OnExitCodes, names, path.Child("onExitCodes"))...)
	}
	if n := len(r.OnPodConditions); n > maxPatterns {
		errs = append(errs, field.TooMany(path.Child("onPodConditions"), n, maxPatterns))
	}
	for i, p := range r.OnPodConditions {
		at := path.Child("onPodConditions").Index(i)
		errs = append(errs, rules.Invalid(at.Child("type"), string(p.Type), validation.IsQualifiedName(string(p.Type)))...)
		errs = append(errs, among(at.Child("status"), p.Status, statuses)...)
	}
	switch {
	case r.OnExitCodes != nil && len(r.OnPodConditions) > 0:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case r.OnExitCodes == nil && len(r.OnPodConditions) == 0:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

func validateExitCodes(c *batchv1.PodFailurePolicyOnExitCodesRequirement, names []string, path *field.Path) field.ErrorList {
	errs := among(path.Child("operator"), c.Operator, operators)
	if c.ContainerName != nil && !slices.Contains(names, *c.ContainerName) {
		errs = append(errs, field.Invalid(path.Child("containerName"), *c.ContainerName, "must be one of the container or initContainer names in the pod template"))
	}
	at := path.Child("values")
	switch n := len(c.Values); {
	case n == 0:
		errs = append(errs, field.Invalid(at, c.Values, "at least one value is required"))
	case n > maxExitCodes:
		errs = append(errs, field.TooMany(at, n, maxExitCodes))
	}
	for i, v := range c.Values {
		if c.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && v == 0 {
			errs = append(errs, field.Invalid(at.Index(i), v, "must not be 0 for the In operator"))
		}
		if slices.Contains(c.Values[:i], v) {
			errs = append(errs, field.Duplicate(at.Index(i), v))
		}
	}
	if !slices.IsSorted(c.Values) {
		errs = append(errs, field.Invalid(at, c.Values, "must be ordered"))
	}
	return errs
}

// validateSuccessPolicy judges the rules of when a job may end before every index succeeded.
func validateSuccessPolicy(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if ptr.Deref(s.CompletionMode, batchv1.NonIndexedCompletion) != batchv1.IndexedCompletion {
		return field.ErrorList{field.Invalid(path, *s.SuccessPolicy, "requires indexed completion mode")}
	}
	var errs field.ErrorList
	at := path.Child("rules")
	switch n := len(s.SuccessPolicy.Rules); {
	case n == 0:
		errs = append(errs, field.Required(at, "at least one rules must be specified when the successPolicy is specified"))
	case n > maxSuccessRules:
		errs = append(errs, field.TooMany(at, n, maxSuccessRules))
	}
	for i := range s.SuccessPolicy.Rules {
		errs = append(errs, validateSuccessRule(ptr.Deref(s.Completions, 0), &s.SuccessPolicy.Rules[i], at.Index(i))...)
	}
	return errs
}

func validateSuccessRule(completions int32, r *batchv1.SuccessPolicyRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.SucceededCount == nil && r.SucceededIndexes == nil {
		errs = append(errs, field.Required(path, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	var total int32
	if r.SucceededIndexes != nil {
		at := path.Child("succeededIndexes")
		if len(*r.SucceededIndexes) > maxSucceededIndexes {
			errs = append(errs, field.TooLong(at, "", maxSucceededIndexes))
		}
		var err error
		if total, err = countIndexes(*r.SucceededIndexes, completions); err != nil {
			errs = append(errs, field.Invalid(at, *r.SucceededIndexes, "error parsing succeededIndexes: "+err.Error()))
		}
	}
	if n := r.SucceededCount; n != nil {
		at := path.Child("succeededCount")
		errs = append(errs, rules.NotNegative(at, *n)...)
		if *n > completions {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
		}
		if r.SucceededIndexes != nil && *n > total {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
		}
	}
	return errs
}
