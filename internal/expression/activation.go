package expression

import (
	"context"
	"fmt"
	"math"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/lazy"
)

// Input is what expressions ask about.
type Input struct {
	Object, OldObject runtime.Object // with kind and apiVersion; nil where there is none
	Request           *admissionv1.AdmissionRequest
	Namespace         *corev1.Namespace // nil for what is in none
	Params            runtime.Object    // with kind and apiVersion; nil if there are none
	// Authorizer and ResourceAuthorizer of k8s.io/apiserver/pkg/cel/library; nil where expressions may not ask.
	Authorizer, ResourceAuthorizer ref.Val
	// Trees shows the objects as JSON has them, as mutations need it: they make values of such trees.
	Trees bool
}

// Activation gives expressions their variables. Those of the policy itself are evaluated when first used, and then kept.
type Activation struct {
	values map[string]any
	ctx    context.Context // of the evaluation under way
	spent  int64           // by variables since it was last asked
}

// NewActivation makes an activation for the compiler's expressions.
func (c *Compiler) NewActivation(in *Input) (*Activation, error) {
	old, err := value(in.OldObject, in.Trees)
	if err != nil {
		return nil, fmt.Errorf("failed to prepare oldObject variable for evaluation: %w", err)
	}
	object, err := value(in.Object, in.Trees)
	if err != nil {
		return nil, fmt.Errorf("failed to prepare object variable for evaluation: %w", err)
	}
	a := &Activation{values: map[string]any{
		objectName: object, oldObjectName: old, paramsName: nil,
		requestName: common.SchemalessTypedToVal(in.Request), namespaceName: common.SchemalessTypedToVal(in.Namespace),
	}}
	if in.Params != nil {
		a.values[paramsName] = common.SchemalessTypedToVal(in.Params)
		if u, ok := in.Params.(*unstructured.Unstructured); ok {
			a.values[paramsName] = celtypes.DefaultTypeAdapter.NativeToValue(u.Object)
		}
	}
	if in.Authorizer != nil {
		a.values[authorizerName], a.values[resourceAuthorizerName] = in.Authorizer, in.ResourceAuthorizer
	}
	if c.variables != nil {
		a.values[variablesName] = c.variables.bind(a)
	}
	return a, nil
}

// value shows an object to expressions.
func value(obj runtime.Object, tree bool) (any, error) {
	if obj == nil {
		return nil, nil
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return celtypes.DefaultTypeAdapter.NativeToValue(u.Object), nil
	}
	if !tree {
		return common.SchemalessTypedToVal(obj), nil
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	return celtypes.DefaultTypeAdapter.NativeToValue(m), nil
}

// bind makes the value of "variables" for an activation.
func (v *variables) bind(a *Activation) ref.Val {
	m := lazy.NewMapValue(v.shape)
	for name, compiled := range v.compiled {
		m.Append(name, func(*lazy.MapValue) ref.Val { return a.variable(name, compiled) })
	}
	return m
}

// variable evaluates one variable; what it cost is remembered.
func (a *Activation) variable(name string, c Compiled) ref.Val {
	if c.Err != nil {
		return celtypes.NewErr("composited variable %q fails to compile: %v", name, c.Err)
	}
	v, details, err := c.program.ContextEval(a.ctx, a)
	if details == nil {
		return celtypes.NewErr("unable to get evaluation details of variable %q", name)
	}
	cost := details.ActualCost()
	if cost == nil {
		return celtypes.NewErr("unable to calculate cost of variable %q", name)
	}
	a.spent += int64(min(*cost, math.MaxInt64/2))
	if err != nil {
		return celtypes.NewErr("composited variable %q fails to evaluate: %v", name, err)
	}
	return v
}

// ResolveName gives the value of a variable.
func (a *Activation) ResolveName(name string) (any, bool) {
	v, ok := a.values[name]
	return v, ok
}

// Parent of the activation: there is none.
func (a *Activation) Parent() interpreter.Activation { return nil }

var errBudget = &apiservercel.Error{
	Type: apiservercel.ErrorTypeInvalid, Detail: "validation failed due to running out of cost budget, no further validation rules will be run", Cause: apiservercel.ErrOutOfBudget,
}

// Evaluate evaluates an expression at the expense of a budget, of which it gives what is left. The first
// error is the expression's own; the second one ends the evaluation of all.
func (a *Activation) Evaluate(ctx context.Context, c *Compiled, budget int64) (result ref.Val, left int64, failed, fatal error) {
	if c.Err != nil {
		return nil, budget, &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("compilation error: %v", c.Err), Cause: c.Err}, nil
	}
	a.ctx, a.spent = ctx, 0
	result, details, err := c.program.ContextEval(ctx, a)
	if a.spent > budget {
		return nil, -1, nil, errBudget
	}
	budget -= a.spent
	const unknown = "runtime cost could not be calculated for expression: %v, no further expression will be run"
	if details == nil {
		return nil, -1, nil, &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: fmt.Sprintf(unknown, c.Source)}
	}
	cost := details.ActualCost()
	if cost == nil {
		return nil, -1, nil, &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf(unknown, c.Source), Cause: apiservercel.ErrOutOfBudget}
	}
	if *cost > math.MaxInt64 || int64(*cost) > budget {
		return nil, -1, nil, errBudget
	}
	budget -= int64(*cost)
	if err != nil {
		return nil, budget, &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("expression '%v' resulted in error: %v", c.Source, err)}, nil
	}
	return result, budget, nil, nil
}
