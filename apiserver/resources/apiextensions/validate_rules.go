package apiextensions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// callCost is what one evaluation may cost at run time, in CEL's units.
const callCost = 1_000_000

// Limits of what rules are estimated to cost: one expression, and all of a schema.
const (
	expressionCost = 10_000_000
	schemaCost     = 100_000_000
)

var ruleReasons = []string{
	string(apiextensions.FieldValueDuplicate), string(apiextensions.FieldValueForbidden), string(apiextensions.FieldValueInvalid), string(apiextensions.FieldValueRequired),
}

func breaksLine(s string) bool { return strings.ContainsAny(s, "\n\r") }

// ruleTexts judges rules as far as no compiler is needed.
func (n node) ruleTexts() field.ErrorList {
	var errs field.ErrorList
	for i := range n.schema.XValidations {
		errs = append(errs, n.ruleText(&n.schema.XValidations[i], n.path.Child("x-kubernetes-validations").Index(i))...)
	}
	return errs
}

func (n node) ruleText(r *apiextensions.ValidationRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
	switch {
	case rule == "":
		errs = append(errs, field.Required(path.Child("rule"), "rule is not specified"))
	case r.Message != "" && message == "":
		errs = append(errs, field.Invalid(path.Child("message"), r.Message, "must be non-empty if specified"))
	case breaksLine(message):
		errs = append(errs, field.Invalid(path.Child("message"), r.Message, "must not contain line breaks"))
	case breaksLine(rule) && message == "":
		errs = append(errs, field.Required(path.Child("message"), "message must be specified if rule contains line breaks"))
	}
	if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
		errs = append(errs, field.Required(path.Child("messageExpression"), "messageExpression must be non-empty if specified"))
	}
	if r.Reason != nil && !slices.Contains(ruleReasons, string(*r.Reason)) {
		errs = append(errs, field.NotSupported(path.Child("reason"), *r.Reason, ruleReasons))
	}
	if r.FieldPath == "" {
		return errs
	}
	at := path.Child("fieldPath")
	if strings.TrimSpace(r.FieldPath) == "" {
		errs = append(errs, field.Invalid(at, r.FieldPath, "must be non-empty if specified"))
	}
	if breaksLine(r.FieldPath) {
		errs = append(errs, field.Invalid(at, r.FieldPath, "must not contain line breaks"))
	}
	if ss, err := structuralschema.NewStructural(n.schema); err == nil {
		if _, _, err := cel.ValidFieldPath(r.FieldPath, ss); err != nil {
			errs = append(errs, field.Invalid(at, r.FieldPath, "must be a valid path"))
		}
	}
	return errs
}

// rules compiles the rules of a node and judges what they cost.
func (n node) rules() field.ErrorList {
	path := n.path.Child("x-kubernetes-validations")
	info, err := n.context.typeInfo()
	switch {
	case err != nil:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: %w", err))}
	case info == nil:
		return field.ErrorList{field.InternalError(path, errors.New("internal error: failed to retrieve type information for x-kubernetes-validations"))}
	}
	compiled, err := cel.Compile(info.schema, info.decl, callCost, n.env, n.known)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var errs field.ErrorList
	for i, c := range compiled {
		errs = append(errs, n.rule(&n.schema.XValidations[i], c, path.Index(i))...)
	}
	return errs
}

// rule judges one compiled rule.
func (n node) rule(r *apiextensions.ValidationRule, c cel.CompilationResult, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("rule")
	errs = append(errs, n.cost(n.context.cost(c), "estimated rule cost", at)...)
	if c.Error != nil {
		if c.Error.Type == apiservercel.ErrorTypeRequired {
			errs = append(errs, field.Required(at, c.Error.Detail))
		} else {
			errs = append(errs, field.Invalid(at, *r, c.Error.Detail))
		}
	}
	switch message := path.Child("messageExpression"); {
	case c.MessageExpressionError != nil:
		errs = append(errs, field.Invalid(message, *r, c.MessageExpressionError.Detail))
	case c.MessageExpression != nil:
		errs = append(errs, n.cost(c.MessageExpressionMaxCost, "estimated messageExpression cost", message)...)
	}
	switch {
	case c.UsesOldSelf && n.uncorrelated != nil:
		errs = append(errs, field.Invalid(at, r.Rule, fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", n.uncorrelated)))
	case !c.UsesOldSelf && r.OptionalOldSelf != nil:
		errs = append(errs, field.Invalid(path.Child("optionalOldSelf"), *r.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
	}
	return errs
}

// cost notes what an expression costs, and refuses it if that is too much.
func (n node) cost(cost uint64, name string, path *field.Path) field.ErrorList {
	n.context.total.observe(path, cost)
	if n.anyCost || cost <= expressionCost {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, costText(name, cost, expressionCost))}
}

// costText says by how much a limit is exceeded: roughly, where more would mislead.
func costText(name string, cost, limit uint64) string {
	by := float64(cost) / float64(limit)
	factor := fmt.Sprintf("%.1fx", by)
	switch {
	case by > 100:
		factor = "more than 100x"
	case by < 1.5:
		factor = fmt.Sprintf("%fx", by)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", name, factor)
}
