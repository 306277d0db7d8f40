package admissionregistration

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/kogge-dev/kogge/internal/expression"
)

// maxConditions is how many match conditions there may be.
const maxConditions = 64

// known are expressions of one sort that are stored already: they may use what new ones may not.
type known map[string]bool

func (k known) age(source string) expression.Age {
	if k[source] {
		return expression.Stored
	}
	return expression.New
}

// compile checks an expression; shown is how it appears in the error.
func compile(c *expression.Compiler, path *field.Path, source, shown string, types []*cel.Type, d expression.Declarations, age expression.Age) field.ErrorList {
	return compileErrors(path, shown, c.Compile(source, types, d, age).Err)
}

func compileErrors(path *field.Path, shown string, err *apiservercel.Error) field.ErrorList {
	if err == nil {
		return nil
	}
	switch err.Type {
	case apiservercel.ErrorTypeRequired:
		return field.ErrorList{field.Required(path, err.Detail)}
	case apiservercel.ErrorTypeInvalid:
		return field.ErrorList{field.Invalid(path, shown, err.Detail)}
	case apiservercel.ErrorTypeInternal:
		return field.ErrorList{field.InternalError(path, err)}
	}
	return field.ErrorList{field.InternalError(path, fmt.Errorf("unsupported error type: %w", err))}
}

// validateConditions judges match conditions, which know no variables.
func validateConditions(path *field.Path, conditions []admissionv1.MatchCondition, params bool, stored known) field.ErrorList {
	var errs field.ErrorList
	if len(conditions) > maxConditions {
		errs = append(errs, field.TooMany(path, len(conditions), maxConditions))
	}
	names := map[string]bool{}
	for i, c := range conditions {
		errs = append(errs, validateCondition(path.Index(i), &c, params, stored)...)
		if c.Name == "" {
			continue
		}
		if names[c.Name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), c.Name))
		}
		names[c.Name] = true
	}
	return errs
}

func validateCondition(path *field.Path, c *admissionv1.MatchCondition, params bool, stored known) field.ErrorList {
	var errs field.ErrorList
	source := strings.TrimSpace(c.Expression)
	if source == "" {
		errs = append(errs, field.Required(path.Child("expression"), ""))
	} else {
		errs = append(errs, compile(expression.NewCompiler(false), path.Child("expression"), source, source, expression.Condition,
			expression.Declarations{Params: params, Authorizer: true}, stored.age(source))...)
	}
	if c.Name == "" {
		return append(errs, field.Required(path.Child("name"), ""))
	}
	return append(errs, validateQualifiedName(path.Child("name"), c.Name)...)
}

// conditionSources gives the expressions of match conditions.
func conditionSources(into known, conditions []admissionv1.MatchCondition) known {
	for _, c := range conditions {
		into[c.Expression] = true
	}
	return into
}
