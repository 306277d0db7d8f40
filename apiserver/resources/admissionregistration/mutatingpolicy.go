package admissionregistration

import (
	"context"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/google/cel-go/cel"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/internal/expression"
)

// MutatingAdmissionPolicy changes what is written by expressions.
var MutatingAdmissionPolicy = resource.Define(resource.Kind[*admissionv1.MutatingAdmissionPolicy]{
	Name: resource.Name{Group: group, Version: "v1", Kind: "MutatingAdmissionPolicy", Plural: "mutatingadmissionpolicies", Categories: extensions},
	List: &admissionv1.MutatingAdmissionPolicyList{}, Store: "mutatingadmissionpolicies",
	Default: func(p *admissionv1.MutatingAdmissionPolicy) {
		fill(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatch(p.Spec.MatchConstraints)
	},
	Strategy: resource.Strategy[*admissionv1.MutatingAdmissionPolicy]{
		PrepareForCreate: func(_ context.Context, p *admissionv1.MutatingAdmissionPolicy) { p.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, p, old *admissionv1.MutatingAdmissionPolicy) {
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, p *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
			return append(validateMutatingPolicy(p, stored{}), reserved(p.Name)...)
		},
		ValidateUpdate: func(_ context.Context, p, old *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
			return validateMutatingPolicy(p, storedMutations(p, old))
		},
		WarningsOnUpdate: func(_ context.Context, p, _ *admissionv1.MutatingAdmissionPolicy) []string {
			return reservedWarnings(p.Name)
		},
	},
	OwnMetadata: true, NeedsVersion: true, Governs: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Mutations", "integer", "Mutation indicates the number of mutations rules defined in this configuration"),
		resource.Column("ParamKind", "string", "ParamKind specifies the kind of resources used to parameterize this policy"),
		resource.AgeColumn,
	},
	Row: func(p *admissionv1.MutatingAdmissionPolicy) []any {
		return []any{p.Name, int64(len(p.Spec.Mutations)), paramKindText(p.Spec.ParamKind), resource.AgeOf(p)}
	},
})

func commonOfMutating(s *admissionv1.MutatingAdmissionPolicySpec) common {
	return common{s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions, s.Variables}
}

// storedMutations gives the expressions that a policy has already. Upstream looks JSON patches up among apply
// configurations; the outcome differs only for expressions that a newer server wrote.
func storedMutations(p, old *admissionv1.MutatingAdmissionPolicy) stored {
	s := stored{conditions: conditionSources(known{}, old.Spec.MatchConditions), configurations: known{},
		sameConditions: commonOfMutating(&p.Spec).sameConditions(commonOfMutating(&old.Spec))}
	for _, m := range old.Spec.Mutations {
		if m.ApplyConfiguration != nil {
			s.configurations[m.ApplyConfiguration.Expression] = true
		}
	}
	return s
}

func validateMutatingPolicy(p *admissionv1.MutatingAdmissionPolicy, s stored) field.ErrorList {
	errs := validateMeta(p)
	errs = append(errs, validateHead(commonOfMutating(&p.Spec), s, true)...)
	c := expression.NewCompiler(true)
	d := expression.Declarations{Params: p.Spec.ParamKind != nil, Authorizer: true}
	errs = append(errs, validateVariables(c, p.Spec.Variables, d, s)...)
	d.Patches = true
	path := specPath.Child("mutations")
	if len(p.Spec.Mutations) == 0 {
		errs = append(errs, field.Required(path, "mutations must contain at least one item"))
	}
	for i := range p.Spec.Mutations {
		errs = append(errs, validateMutation(c, path.Index(i), &p.Spec.Mutations[i], d, s)...)
	}
	return append(errs, rules.OneOf(specPath.Child("reinvocationPolicy"), p.Spec.ReinvocationPolicy, reinvocations...)...)
}

func validateMutation(c *expression.Compiler, path *field.Path, m *admissionv1.Mutation, d expression.Declarations, s stored) field.ErrorList {
	patch, apply := path.Child("jsonPatch"), path.Child("applyConfiguration")
	var errs field.ErrorList
	switch m.PatchType {
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			errs = append(errs, field.Required(patch, "must be specified when patchType is JSONPatch"))
		} else {
			errs = append(errs, validateMutator(c, patch, m.JSONPatch.Expression, expression.JSONPatch, d, s)...)
		}
		if m.ApplyConfiguration != nil {
			errs = append(errs, field.Invalid(apply, "{applyConfiguration}", "must not be specified when patchType is JSONPatch"))
		}
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			errs = append(errs, field.Required(apply, "must be specified when patchType is ApplyConfiguration"))
		} else {
			errs = append(errs, validateMutator(c, apply, m.ApplyConfiguration.Expression, expression.ApplyConfiguration, d, s)...)
		}
		if m.JSONPatch != nil {
			errs = append(errs, field.Invalid(patch, "{jsonPatch}", "must not be specified when patchType is ApplyConfiguration"))
		}
	default:
		return rules.OneOf(path.Child("patchType"), m.PatchType, admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch)
	}
	return errs
}

func validateMutator(c *expression.Compiler, path *field.Path, text string, types []*cel.Type, d expression.Declarations, s stored) field.ErrorList {
	source := strings.TrimSpace(text)
	if source == "" {
		return field.ErrorList{field.Required(path.Child("expression"), "")}
	}
	return compile(c, path.Child("expression"), source, source, types, d, s.configurations.age(text))
}
