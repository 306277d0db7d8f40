package admissionregistration

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/internal/expression"
)

const (
	maxAnnotations = 20
	// maxAnnotationExpression is how long an annotation's expression may be, in bytes.
	maxAnnotationExpression = 5 * 1024
)

// ValidatingAdmissionPolicy judges writes by expressions.
var ValidatingAdmissionPolicy = resource.Define(resource.Kind[*admissionv1.ValidatingAdmissionPolicy]{
	Name: resource.Name{Group: group, Version: "v1", Kind: "ValidatingAdmissionPolicy", Plural: "validatingadmissionpolicies", Categories: extensions},
	List: &admissionv1.ValidatingAdmissionPolicyList{}, Store: "validatingadmissionpolicies",
	Default: func(p *admissionv1.ValidatingAdmissionPolicy) {
		fill(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatch(p.Spec.MatchConstraints)
	},
	Strategy: resource.Strategy[*admissionv1.ValidatingAdmissionPolicy]{
		PrepareForCreate: func(_ context.Context, p *admissionv1.ValidatingAdmissionPolicy) {
			p.Status = admissionv1.ValidatingAdmissionPolicyStatus{}
			p.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, p, old *admissionv1.ValidatingAdmissionPolicy) {
			p.Status = old.Status
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, p *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
			return append(validatePolicy(p, stored{}), reserved(p.Name)...)
		},
		ValidateUpdate: func(_ context.Context, p, old *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
			return validatePolicy(p, storedOf(p, old))
		},
		WarningsOnUpdate: func(_ context.Context, p, _ *admissionv1.ValidatingAdmissionPolicy) []string {
			return reservedWarnings(p.Name)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*admissionv1.ValidatingAdmissionPolicy]{
		PrepareForUpdate: func(_ context.Context, p, old *admissionv1.ValidatingAdmissionPolicy) {
			p.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&p.ObjectMeta, &old.ObjectMeta)
		},
		ValidateUpdate: func(_ context.Context, p, _ *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
			return validatePolicyStatus(&p.Status)
		},
		WarningsOnUpdate: func(_ context.Context, p, _ *admissionv1.ValidatingAdmissionPolicy) []string {
			return reservedWarnings(p.Name)
		},
		ResetFields: []string{"metadata", "spec"},
	},
	OwnMetadata: true, NeedsVersion: true, Governs: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Validations", "integer", "Validations indicates the number of validation rules defined in this configuration"),
		resource.Column("ParamKind", "string", "ParamKind specifies the kind of resources used to parameterize this policy"),
		resource.AgeColumn,
	},
	Row: func(p *admissionv1.ValidatingAdmissionPolicy) []any {
		return []any{p.Name, int64(len(p.Spec.Validations)), paramKindText(p.Spec.ParamKind), resource.AgeOf(p)}
	},
})

func commonOf(s *admissionv1.ValidatingAdmissionPolicySpec) common {
	return common{s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions, s.Variables}
}

// storedOf gives the expressions that a policy has already.
func storedOf(p, old *admissionv1.ValidatingAdmissionPolicy) stored {
	s := stored{conditions: conditionSources(known{}, old.Spec.MatchConditions), validations: known{}, messages: known{}, annotations: known{},
		sameConditions: commonOf(&p.Spec).sameConditions(commonOf(&old.Spec))}
	for _, v := range old.Spec.Validations {
		s.validations[v.Expression], s.messages[v.MessageExpression] = true, true
	}
	for _, a := range old.Spec.AuditAnnotations {
		s.annotations[a.ValueExpression] = true
	}
	return s
}

func validatePolicy(p *admissionv1.ValidatingAdmissionPolicy, s stored) field.ErrorList {
	errs := validateMeta(p)
	errs = append(errs, validateHead(commonOf(&p.Spec), s, false)...)
	c := expression.NewCompiler(len(p.Spec.Variables) > 0)
	d := expression.Declarations{Params: p.Spec.ParamKind != nil, Authorizer: true}
	errs = append(errs, validateVariables(c, p.Spec.Variables, d, s)...)
	validations, annotations := specPath.Child("validations"), specPath.Child("auditAnnotations")
	if len(p.Spec.Validations) == 0 && len(p.Spec.AuditAnnotations) == 0 {
		const text = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(validations, text), field.Required(annotations, text))
	}
	for i := range p.Spec.Validations {
		errs = append(errs, validateValidation(c, validations.Index(i), &p.Spec.Validations[i], d, s)...)
	}
	if n := len(p.Spec.AuditAnnotations); n > maxAnnotations {
		errs = append(errs, field.Invalid(annotations, p.Spec.AuditAnnotations, fmt.Sprintf("must not have more than %d auditAnnotations", maxAnnotations)))
	}
	keys := map[string]bool{}
	for i, a := range p.Spec.AuditAnnotations {
		errs = append(errs, validateAnnotation(c, annotations.Index(i), p.Name, &a, d, s)...)
		if keys[a.Key] {
			errs = append(errs, field.Duplicate(annotations.Index(i).Child("key"), a.Key))
		}
		keys[a.Key] = true
	}
	return errs
}

func validateValidation(c *expression.Compiler, path *field.Path, v *admissionv1.Validation, d expression.Declarations, s stored) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(path.Child("expression"), "expression is not specified"))
	} else {
		errs = append(errs, compile(c, path.Child("expression"), v.Expression, v.Expression, expression.Condition, d, s.validations.age(v.Expression))...)
	}
	const blank = "must be non-empty if specified"
	switch {
	case v.MessageExpression != "" && strings.TrimSpace(v.MessageExpression) == "":
		errs = append(errs, field.Invalid(path.Child("messageExpression"), v.MessageExpression, blank))
	case v.MessageExpression != "":
		errs = append(errs, compile(c, path.Child("messageExpression"), v.MessageExpression, v.MessageExpression, expression.Message,
			expression.Declarations{Params: d.Params}, s.messages.age(v.MessageExpression))...)
	}
	switch message := strings.TrimSpace(v.Message); {
	case v.Message != "" && message == "":
		errs = append(errs, field.Invalid(path.Child("message"), v.Message, blank))
	case strings.ContainsAny(message, "\n\r"):
		errs = append(errs, field.Invalid(path.Child("message"), v.Message, "must not contain line breaks"))
	}
	if v.Reason != nil {
		errs = append(errs, rules.Among(path.Child("reason"), *v.Reason, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge)...)
	}
	return errs
}

func validateAnnotation(c *expression.Compiler, path *field.Path, policy string, a *admissionv1.AuditAnnotation, d expression.Declarations, s stored) field.ErrorList {
	var errs field.ErrorList
	if policy == "" {
		errs = append(errs, field.Invalid(path.Child("key"), a.Key, "requires metadata.name be non-empty"))
	} else {
		errs = append(errs, validateQualifiedName(path.Child("key"), policy+"/"+a.Key)...)
	}
	at, source := path.Child("valueExpression"), strings.TrimSpace(a.ValueExpression)
	switch {
	case source == "":
		return append(errs, field.Required(at, "valueExpression is not specified"))
	case len(source) > maxAnnotationExpression:
		return append(errs, field.Required(at, fmt.Sprintf("must not exceed %d bytes in length", maxAnnotationExpression)))
	}
	return append(errs, compile(c, at, source, a.ValueExpression, expression.AuditValue, d, s.annotations.age(a.ValueExpression))...)
}

func validatePolicyStatus(s *admissionv1.ValidatingAdmissionPolicyStatus) field.ErrorList {
	path := field.NewPath("status")
	var errs field.ErrorList
	if s.TypeChecking != nil {
		for i, w := range s.TypeChecking.ExpressionWarnings {
			at := path.Child("typeChecking", "expressionWarnings").Index(i)
			errs = append(errs, rules.Required(at.Child("warning"), w.Warning)...)
			errs = append(errs, validateFieldRef(at.Child("fieldRef"), strings.TrimSpace(w.FieldRef))...)
		}
	}
	return append(errs, unversioned.ValidateConditions(s.Conditions, path.Child("conditions"))...)
}

func validateFieldRef(path *field.Path, ref string) field.ErrorList {
	if ref == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if err := jsonpath.New("spec").Parse(fmt.Sprintf("{%s}", ref)); err != nil {
		return field.ErrorList{field.Invalid(path, ref, fmt.Sprintf("invalid JSONPath: %v", err))}
	}
	return nil
}
