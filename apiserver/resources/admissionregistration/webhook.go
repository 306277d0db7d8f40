package admissionregistration

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var (
	// reviewVersions are those of AdmissionReview that are understood.
	reviewVersions = []string{"v1", "v1beta1"}
	sideEffects    = []admissionv1.SideEffectClass{admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun, admissionv1.SideEffectClassSome, admissionv1.SideEffectClassUnknown}
	noSideEffects  = []admissionv1.SideEffectClass{admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun}
	hooksPath      = field.NewPath("webhooks")
)

// strictness is what is demanded of webhooks. What was stored before a rule came may stay as it is.
type strictness struct {
	noSideEffects, knownVersion, uniqueNames, strictLabels, conditions bool
	stored                                                             known
}

func strictHooks() strictness { return strictness{true, true, true, true, true, nil} }

// asBefore demands of a change only what the old configuration fulfils.
func asBefore(now, old []admissionv1.MutatingWebhook) strictness {
	s := strictHooks()
	s.stored = known{}
	names := map[string]bool{}
	s.conditions = len(now) != len(old)
	for i, h := range old {
		conditionSources(s.stored, h.MatchConditions)
		s.noSideEffects = s.noSideEffects && h.SideEffects != nil && slices.Contains(noSideEffects, *h.SideEffects)
		s.knownVersion = s.knownVersion && (len(h.AdmissionReviewVersions) == 0 || knowsVersion(h.AdmissionReviewVersions))
		s.uniqueNames = s.uniqueNames && !names[h.Name]
		names[h.Name] = true
		for _, selector := range []*metav1.LabelSelector{h.NamespaceSelector, h.ObjectSelector} {
			s.strictLabels = s.strictLabels && len(rules.Selector(nil, selector)) == 0
		}
		s.conditions = s.conditions || !reflect.DeepEqual(now[i].MatchConditions, h.MatchConditions)
	}
	return s
}

func knowsVersion(versions []string) bool {
	return slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(reviewVersions, v) })
}

func validateWebhooks(c resource.Object, hooks []admissionv1.MutatingWebhook, s strictness) field.ErrorList {
	errs := validateMeta(c)
	names := map[string]bool{}
	for i := range hooks {
		h, path := &hooks[i], hooksPath.Index(i)
		errs = append(errs, validateWebhook(path, h, s)...)
		errs = append(errs, validateReviewVersions(path.Child("admissionReviewVersions"), h.AdmissionReviewVersions, s.knownVersion)...)
		if s.uniqueNames && h.Name != "" {
			if names[h.Name] {
				errs = append(errs, field.Duplicate(path.Child("name"), h.Name))
			}
			names[h.Name] = true
		}
	}
	return errs
}

func validateWebhook(path *field.Path, h *admissionv1.MutatingWebhook, s strictness) field.ErrorList {
	errs := validation.IsFullyQualifiedName(path.Child("name"), h.Name)
	for i := range h.Rules {
		errs = append(errs, validateRule(path.Child("rules").Index(i), &h.Rules[i])...)
	}
	if p := h.FailurePolicy; p != nil {
		errs = append(errs, rules.Among(path.Child("failurePolicy"), *p, failurePolicies...)...)
	}
	if p := h.MatchPolicy; p != nil {
		errs = append(errs, rules.Among(path.Child("matchPolicy"), *p, matchPolicies...)...)
	}
	errs = append(errs, validateSideEffects(path.Child("sideEffects"), h.SideEffects, s.noSideEffects)...)
	if t := h.TimeoutSeconds; t != nil && (*t > 30 || *t < 1) {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *t, "the timeout value must be between 1 and 30 seconds"))
	}
	labels := unversioned.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: !s.strictLabels}
	errs = append(errs, unversioned.ValidateLabelSelector(h.NamespaceSelector, labels, path.Child("namespaceSelector"))...)
	errs = append(errs, unversioned.ValidateLabelSelector(h.ObjectSelector, labels, path.Child("objectSelector"))...)
	if p := h.ReinvocationPolicy; p != nil {
		errs = append(errs, rules.Among(path.Child("reinvocationPolicy"), *p, reinvocations...)...)
	}
	errs = append(errs, validateClient(path.Child("clientConfig"), &h.ClientConfig)...)
	if s.conditions {
		errs = append(errs, validateConditions(path.Child("matchConditions"), h.MatchConditions, false, s.stored)...)
	}
	return errs
}

func validateSideEffects(path *field.Path, e *admissionv1.SideEffectClass, none bool) field.ErrorList {
	allowed := sideEffects
	if none {
		allowed = noSideEffects
	}
	if e == nil {
		var names []string
		for _, a := range allowed {
			names = append(names, string(a))
		}
		return field.ErrorList{field.Required(path, "must specify one of "+strings.Join(names, ", "))}
	}
	return rules.Among(path, *e, allowed...)
}

func validateReviewVersions(path *field.Path, versions []string, knownVersion bool) field.ErrorList {
	all := strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "must specify one of "+all)}
	}
	var errs field.ErrorList
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(path.Index(i), v, "duplicate version"))
			continue
		}
		errs = append(errs, rules.Invalid(path.Index(i), v, validation.IsDNS1035Label(v))...)
	}
	if knownVersion && !knowsVersion(versions) {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of "+all))
	}
	return errs
}

// virtual are questions, which no webhook is asked about.
var virtual = []schema.GroupResource{
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}, {Group: "authentication.k8s.io", Resource: "tokenreviews"},
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}, {Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}, {Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
}

// virtualWarnings tells of rules that name such questions.
func virtualWarnings(hooks []admissionv1.MutatingWebhook) []string {
	var out []string
	for i, h := range hooks {
		for j, r := range h.Rules {
			if slices.Contains(r.APIGroups, wildcard) || slices.Contains(r.Resources, wildcard) {
				continue
			}
			var told []schema.GroupResource
			for _, g := range r.APIGroups {
				for _, name := range r.Resources {
					gr := schema.GroupResource{Group: g, Resource: name}
					if slices.Contains(virtual, gr) && !slices.Contains(told, gr) {
						told = append(told, gr)
						out = append(out, fmt.Sprintf("%s: %s is excluded from admission webhooks; this rule will have no effect", hooksPath.Index(i).Child("rules").Index(j), gr))
					}
				}
			}
		}
	}
	return out
}
