package admissionregistration

import (
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/internal/expression"
)

var specPath = field.NewPath("spec")

// stored are a policy's expressions by their sort; a policy that is new has none.
type stored struct {
	conditions, validations, messages, annotations, configurations known
	// sameConditions: what match conditions depend on did not change, so they are not judged again.
	sameConditions bool
}

// common is what both kinds of policies have.
type common struct {
	failure    *admissionv1.FailurePolicyType
	params     *admissionv1.ParamKind
	match      *admissionv1.MatchResources
	conditions []admissionv1.MatchCondition
	variables  []admissionv1.Variable
}

func (c common) sameConditions(old common) bool {
	return equality.Semantic.DeepEqual(c.params, old.params) && equality.Semantic.DeepEqual(c.conditions, old.conditions)
}

// validateHead judges what stands before a policy's variables.
func validateHead(c common, s stored, mutating bool) field.ErrorList {
	var errs field.ErrorList
	if c.failure == nil {
		errs = append(errs, field.Required(specPath.Child("failurePolicy"), ""))
	} else {
		errs = append(errs, rules.Among(specPath.Child("failurePolicy"), *c.failure, failurePolicies...)...)
	}
	if c.params != nil {
		errs = append(errs, validateParamKind(specPath.Child("paramKind"), c.params)...)
	}
	match := specPath.Child("matchConstraints")
	if c.match == nil {
		errs = append(errs, field.Required(match, ""))
	} else {
		errs = append(errs, validateMatchResources(match, c.match)...)
		if len(c.match.ResourceRules) == 0 {
			errs = append(errs, field.Required(match.Child("resourceRules"), ""))
		}
		if mutating {
			errs = append(errs, validateMutable(match, c.match)...)
		}
	}
	if !s.sameConditions {
		errs = append(errs, validateConditions(specPath.Child("matchConditions"), c.conditions, c.params != nil, s.conditions)...)
	}
	return errs
}

var (
	identifier = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	// words that CEL keeps for itself.
	words = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
		"loop", "package", "namespace", "return", "var", "void", "while"}
)

func validateVariables(c *expression.Compiler, variables []admissionv1.Variable, d expression.Declarations, s stored) field.ErrorList {
	var errs field.ErrorList
	for i, v := range variables {
		path := specPath.Child("variables").Index(i)
		if strings.TrimSpace(v.Name) == "" {
			errs = append(errs, field.Required(path.Child("name"), "name is not specified"))
		} else if !identifier.MatchString(v.Name) || slices.Contains(words, v.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), v.Name, "must be a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, field.Required(path.Child("expression"), "expression is not specified"))
			continue
		}
		errs = append(errs, compileErrors(path.Child("expression"), v.Expression, c.Variable(v.Name, v.Expression, d, s.validations.age(v.Expression)).Err)...)
	}
	return errs
}
