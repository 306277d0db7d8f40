package policy

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kogge-dev/kogge/internal/expression"
)

// validator is a ValidatingAdmissionPolicy compiled.
type validator struct {
	compiler    *expression.Compiler
	failure     admissionv1.FailurePolicyType
	validations []admissionv1.Validation
	annotations []admissionv1.AuditAnnotation

	conditions *expression.Conditions
	checks     []expression.Compiled
	values     []expression.Compiled
	// messages beside the checks; nil where there is no expression.
	messages []*expression.Compiled
}

// compileValidator compiles a policy. What can't be compiled fails when it is evaluated.
func compileValidator(s *admissionv1.ValidatingAdmissionPolicySpec) *validator {
	d := expression.Declarations{Params: s.ParamKind != nil, Authorizer: true}
	v := &validator{compiler: expression.NewCompiler(true), failure: failurePolicy(s.FailurePolicy), validations: s.Validations, annotations: s.AuditAnnotations}
	for _, variable := range s.Variables {
		v.compiler.Variable(variable.Name, variable.Expression, d, expression.Stored)
	}
	v.conditions = v.compiler.Conditions(s.MatchConditions, d)
	for _, c := range s.Validations {
		v.checks = append(v.checks, v.compiler.Compile(c.Expression, expression.Condition, d, expression.Stored))
		var message *expression.Compiled
		if c.MessageExpression != "" {
			compiled := v.compiler.Compile(c.MessageExpression, expression.Message, expression.Declarations{Params: d.Params}, expression.Stored)
			message = &compiled
		}
		v.messages = append(v.messages, message)
	}
	for _, a := range s.AuditAnnotations {
		v.values = append(v.values, v.compiler.Compile(a.ValueExpression, expression.AuditValue, d, expression.Stored))
	}
	return v
}

func failurePolicy(p *admissionv1.FailurePolicyType) admissionv1.FailurePolicyType {
	if p == nil {
		return admissionv1.Fail
	}
	return *p
}

// validate evaluates the policy: a decision for each validation, and annotations or why they can't be made.
func (v *validator) validate(ctx context.Context, in *expression.Input) (decisions []decision, notes []note, noteFailures []decision) {
	one := func(err error) []decision { return []decision{failure(v.failure, err.Error())} }
	// As upstream has it, conditions do not see the namespace.
	apart := *in
	apart.Namespace = nil
	holds, err := v.conditions.Hold(ctx, &apart)
	if err != nil {
		return one(err), nil, nil
	}
	if !holds {
		return nil, nil, nil
	}
	results, left, err := v.all(ctx, in, pointers(v.checks), expression.Budget)
	if err != nil {
		return one(err), nil, nil
	}
	// Messages may not ask the authorizer.
	plain := *in
	plain.Authorizer, plain.ResourceAuthorizer = nil, nil
	messages, _, stopped := v.all(ctx, &plain, v.messages, left)
	for i := range results {
		var message said
		if i < len(messages) {
			message = messages[i]
		}
		decisions = append(decisions, decide(&v.validations[i], v.failure, results[i], message, stopped))
	}
	values, _, err := v.all(ctx, &plain, pointers(v.values), expression.Budget)
	if err != nil {
		return one(err), nil, nil
	}
	for i, result := range values {
		n, d := noteOf(&v.annotations[i], v.failure, result)
		if d.denied {
			noteFailures = append(noteFailures, d)
		} else if n.value != "" {
			notes = append(notes, n)
		}
	}
	return decisions, notes, noteFailures
}

func pointers(list []expression.Compiled) []*expression.Compiled {
	out := make([]*expression.Compiled, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// all evaluates expressions at the expense of one budget. An error ends them all.
func (v *validator) all(ctx context.Context, in *expression.Input, list []*expression.Compiled, budget int64) ([]said, int64, error) {
	if len(list) == 0 {
		return nil, budget, nil
	}
	a, err := v.compiler.NewActivation(in)
	if err != nil {
		return nil, -1, err
	}
	out := make([]said, len(list))
	for i, c := range list {
		if c == nil {
			continue
		}
		var fatal error
		if out[i].value, budget, out[i].err, fatal = a.Evaluate(ctx, c, budget); fatal != nil {
			return nil, -1, fatal
		}
	}
	return out, budget, nil
}
