package admissionregistration

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var bindingColumns = []metav1.TableColumnDefinition{
	resource.NameColumn,
	resource.Column("PolicyName", "string", "PolicyName indicates the policy definition which the policy binding binded to"),
	resource.Column("ParamRef", "string", "ParamRef indicates the param resource which sets the configuration param"),
	resource.AgeColumn,
}

// ValidatingAdmissionPolicyBinding puts a policy into force: for what, with which parameters, and with what consequence.
var ValidatingAdmissionPolicyBinding = resource.Define(resource.Kind[*admissionv1.ValidatingAdmissionPolicyBinding]{
	Name: resource.Name{Group: group, Version: "v1", Kind: "ValidatingAdmissionPolicyBinding", Plural: "validatingadmissionpolicybindings", Categories: extensions},
	List: &admissionv1.ValidatingAdmissionPolicyBindingList{}, Store: "validatingadmissionpolicybindings",
	Default: func(b *admissionv1.ValidatingAdmissionPolicyBinding) { defaultMatch(b.Spec.MatchResources) },
	Strategy: resource.Strategy[*admissionv1.ValidatingAdmissionPolicyBinding]{
		PrepareForCreate: func(_ context.Context, b *admissionv1.ValidatingAdmissionPolicyBinding) { b.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, b, old *admissionv1.ValidatingAdmissionPolicyBinding) {
			if !equality.Semantic.DeepEqual(b.Spec, old.Spec) {
				b.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, b *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
			return append(validateBinding(b), reserved(b.Name)...)
		},
		ValidateUpdate: func(_ context.Context, b, _ *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
			return validateBinding(b)
		},
		WarningsOnUpdate: func(_ context.Context, b, _ *admissionv1.ValidatingAdmissionPolicyBinding) []string {
			return reservedWarnings(b.Name)
		},
	},
	OwnMetadata: true, NeedsVersion: true, Governs: true,
	Columns: bindingColumns,
	Row: func(b *admissionv1.ValidatingAdmissionPolicyBinding) []any {
		return []any{b.Name, b.Spec.PolicyName, paramRefText(b.Spec.ParamRef), resource.AgeOf(b)}
	},
})

// MutatingAdmissionPolicyBinding puts a policy into force: for what, and with which parameters.
var MutatingAdmissionPolicyBinding = resource.Define(resource.Kind[*admissionv1.MutatingAdmissionPolicyBinding]{
	Name: resource.Name{Group: group, Version: "v1", Kind: "MutatingAdmissionPolicyBinding", Plural: "mutatingadmissionpolicybindings", Categories: extensions},
	List: &admissionv1.MutatingAdmissionPolicyBindingList{}, Store: "mutatingadmissionpolicybindings",
	Default: func(b *admissionv1.MutatingAdmissionPolicyBinding) { defaultMatch(b.Spec.MatchResources) },
	Strategy: resource.Strategy[*admissionv1.MutatingAdmissionPolicyBinding]{
		PrepareForCreate: func(_ context.Context, b *admissionv1.MutatingAdmissionPolicyBinding) { b.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, b, old *admissionv1.MutatingAdmissionPolicyBinding) {
			if !equality.Semantic.DeepEqual(b.Spec, old.Spec) {
				b.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
			return append(validateMutatingBinding(b), reserved(b.Name)...)
		},
		ValidateUpdate: func(_ context.Context, b, _ *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
			return validateMutatingBinding(b)
		},
		WarningsOnUpdate: func(_ context.Context, b, _ *admissionv1.MutatingAdmissionPolicyBinding) []string {
			return reservedWarnings(b.Name)
		},
	},
	OwnMetadata: true, NeedsVersion: true, Governs: true,
	Columns: bindingColumns,
	Row: func(b *admissionv1.MutatingAdmissionPolicyBinding) []any {
		return []any{b.Name, b.Spec.PolicyName, paramRefText(b.Spec.ParamRef), resource.AgeOf(b)}
	},
})

func validatePolicyName(name string) field.ErrorList {
	path := specPath.Child("policyName")
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return rules.Invalid(path, name, genericvalidation.NameIsDNSSubdomain(name, false))
}

func validateBinding(b *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	errs := append(validateMeta(b), validatePolicyName(b.Spec.PolicyName)...)
	errs = append(errs, validateParamRef(specPath.Child("paramRef"), b.Spec.ParamRef)...)
	errs = append(errs, validateMatchResources(specPath.Child("matchResources"), b.Spec.MatchResources)...)
	return append(errs, validateActions(specPath.Child("validationActions"), b.Spec.ValidationActions)...)
}

func validateActions(path *field.Path, actions []admissionv1.ValidationAction) field.ErrorList {
	var errs field.ErrorList
	for i, a := range actions {
		errs = append(errs, rules.Among(path.Index(i), a, admissionv1.Audit, admissionv1.Deny, admissionv1.Warn)...)
		if slices.Contains(actions[:i], a) {
			errs = append(errs, field.Duplicate(path.Index(i), a))
		}
	}
	if slices.Contains(actions, admissionv1.Deny) && slices.Contains(actions, admissionv1.Warn) {
		errs = append(errs, field.Invalid(path, actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	if len(actions) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	return errs
}

func validateMutatingBinding(b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	errs := append(validateMeta(b), validatePolicyName(b.Spec.PolicyName)...)
	errs = append(errs, validateParamRef(specPath.Child("paramRef"), b.Spec.ParamRef)...)
	match := specPath.Child("matchResources")
	errs = append(errs, validateMatchResources(match, b.Spec.MatchResources)...)
	return append(errs, validateMutable(match, b.Spec.MatchResources)...)
}
