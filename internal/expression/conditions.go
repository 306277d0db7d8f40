package expression

import (
	"context"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Conditions are the match conditions of a policy or a webhook, of which all must hold.
type Conditions struct {
	compiler *Compiler
	compiled []Compiled
}

// Conditions compiles match conditions.
func (c *Compiler) Conditions(conditions []admissionv1.MatchCondition, d Declarations) *Conditions {
	out := &Conditions{compiler: c}
	for _, m := range conditions {
		out.compiled = append(out.compiled, c.Compile(m.Expression, Condition, d, Stored))
	}
	return out
}

// Hold says whether all conditions hold. One that does not decides, whatever else failed; otherwise failures are an error.
func (c *Conditions) Hold(ctx context.Context, in *Input) (bool, error) {
	if c == nil || len(c.compiled) == 0 {
		return true, nil
	}
	a, err := c.compiler.NewActivation(in)
	if err != nil {
		return false, err
	}
	budget := ConditionsBudget
	var failures []error
	held := true
	for i := range c.compiled {
		result, left, failed, fatal := a.Evaluate(ctx, &c.compiled[i], budget)
		if fatal != nil {
			return false, fatal
		}
		if failed != nil {
			failures = append(failures, failed)
		}
		held = held && result != celtypes.False
		budget = left
	}
	if !held {
		return false, nil
	}
	return len(failures) == 0, utilerrors.NewAggregate(failures)
}
