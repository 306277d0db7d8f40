package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

const wildcard = "*"

// Values that enumerations may have, in the order of their texts.
var (
	failurePolicies = []admissionv1.FailurePolicyType{admissionv1.Fail, admissionv1.Ignore}
	matchPolicies   = []admissionv1.MatchPolicyType{admissionv1.Equivalent, admissionv1.Exact}
	reinvocations   = []admissionv1.ReinvocationPolicyType{admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy}
	scopes          = []admissionv1.ScopeType{admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope}
	operations      = []admissionv1.OperationType{admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update}
	// mutable operations have an object that can be changed.
	mutable = []admissionv1.OperationType{admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Update}
)

func validateRule(path *field.Path, r *admissionv1.RuleWithOperations) field.ErrorList {
	var errs field.ErrorList
	ops := path.Child("operations")
	if len(r.Operations) == 0 {
		errs = append(errs, field.Required(ops, ""))
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		errs = append(errs, field.Invalid(ops, r.Operations, "if '*' is present, must not specify other operations"))
	}
	for i, o := range r.Operations {
		errs = append(errs, rules.Among(ops.Index(i), o, operations...)...)
	}
	errs = append(errs, validateGroups(path, &r.Rule)...)
	errs = append(errs, validateResources(path.Child("resources"), r.Resources)...)
	if r.Scope != nil {
		errs = append(errs, rules.Among(path.Child("scope"), *r.Scope, scopes...)...)
	}
	return errs
}

func validateGroups(path *field.Path, r *admissionv1.Rule) field.ErrorList {
	var errs field.ErrorList
	groups, versions := path.Child("apiGroups"), path.Child("apiVersions")
	if len(r.APIGroups) == 0 {
		errs = append(errs, field.Required(groups, ""))
	}
	if len(r.APIGroups) > 1 && slices.Contains(r.APIGroups, wildcard) {
		errs = append(errs, field.Invalid(groups, r.APIGroups, "if '*' is present, must not specify other API groups"))
	}
	if len(r.APIVersions) == 0 {
		errs = append(errs, field.Required(versions, ""))
	}
	if len(r.APIVersions) > 1 && slices.Contains(r.APIVersions, wildcard) {
		errs = append(errs, field.Invalid(versions, r.APIVersions, "if '*' is present, must not specify other API versions"))
	}
	for i, v := range r.APIVersions {
		errs = append(errs, rules.Required(versions.Index(i), v)...)
	}
	return errs
}

// validateResources refuses lists in which an entry says what another one says already.
func validateResources(path *field.Path, all []string) field.ErrorList {
	var errs field.ErrorList
	if len(all) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	everySub, everyResource := map[string]bool{}, map[string]bool{}
	plain := false
	for i, r := range all {
		if r == "" {
			errs = append(errs, field.Required(path.Index(i), ""))
			continue
		}
		name, sub, ok := strings.Cut(r, "/")
		if !ok {
			// As upstream has it, the last one decides.
			plain = r != wildcard
			continue
		}
		if everySub[name] {
			errs = append(errs, field.Invalid(path.Index(i), r, fmt.Sprintf("if '%s/*' is present, must not specify %s", name, r)))
		}
		if everyResource[sub] {
			errs = append(errs, field.Invalid(path.Index(i), r, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, r)))
		}
		everySub[name] = everySub[name] || sub == wildcard
		everyResource[sub] = everyResource[sub] || name == wildcard
	}
	if len(all) > 1 && slices.Contains(all, "*/*") {
		errs = append(errs, field.Invalid(path, all, "if '*/*' is present, must not specify other resources"))
	}
	if plain && slices.Contains(all, wildcard) {
		errs = append(errs, field.Invalid(path, all, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

func validateNamedRule(path *field.Path, r *admissionv1.NamedRuleWithOperations) field.ErrorList {
	var errs field.ErrorList
	names := path.Child("resourceNames")
	for i, name := range r.ResourceNames {
		errs = append(errs, rules.Invalid(names.Index(i), name, content.IsPathSegmentName(name))...)
		if slices.Contains(r.ResourceNames[:i], name) {
			errs = append(errs, field.Duplicate(names.Index(i), name))
		}
	}
	return append(errs, validateRule(path, &r.RuleWithOperations)...)
}

func validateMatchResources(path *field.Path, m *admissionv1.MatchResources) field.ErrorList {
	if m == nil {
		return nil
	}
	var errs field.ErrorList
	if m.MatchPolicy == nil {
		errs = append(errs, field.Required(path.Child("matchPolicy"), ""))
	} else {
		errs = append(errs, rules.Among(path.Child("matchPolicy"), *m.MatchPolicy, matchPolicies...)...)
	}
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		if s.selector == nil {
			errs = append(errs, field.Required(path.Child(s.name), ""))
		} else {
			errs = append(errs, unversioned.ValidateLabelSelector(s.selector, unversioned.LabelSelectorValidationOptions{}, path.Child(s.name))...)
		}
	}
	for i := range m.ResourceRules {
		errs = append(errs, validateNamedRule(path.Child("resourceRules").Index(i), &m.ResourceRules[i])...)
	}
	for i := range m.ExcludeResourceRules {
		errs = append(errs, validateNamedRule(path.Child("excludeResourceRules").Index(i), &m.ExcludeResourceRules[i])...)
	}
	return errs
}

// validateMutable refuses operations that leave nothing to change.
func validateMutable(path *field.Path, m *admissionv1.MatchResources) field.ErrorList {
	if m == nil {
		return nil
	}
	var errs field.ErrorList
	for _, r := range m.ResourceRules {
		for _, o := range r.Operations {
			errs = append(errs, rules.Among(path.Child("resourceRules", "operations"), o, mutable...)...)
		}
	}
	return errs
}
