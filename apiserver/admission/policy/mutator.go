package policy

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/google/cel-go/common/types/ref"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/internal/expression"
)

// mutator is a MutatingAdmissionPolicy compiled.
type mutator struct {
	compiler   *expression.Compiler
	failure    admissionv1.FailurePolicyType
	again      bool // reinvocationPolicy IfNeeded
	conditions *expression.Conditions
	mutations  []alteration
}

// alteration is one change that a policy makes.
type alteration struct {
	kind     admissionv1.PatchType
	compiled expression.Compiled
}

// compileMutator compiles a policy. What can't be compiled fails when it is evaluated.
func compileMutator(s *admissionv1.MutatingAdmissionPolicySpec) *mutator {
	d := expression.Declarations{Params: s.ParamKind != nil, Authorizer: true}
	m := &mutator{compiler: expression.NewCompiler(true), failure: failurePolicy(s.FailurePolicy), again: s.ReinvocationPolicy == admissionv1.IfNeededReinvocationPolicy}
	for _, variable := range s.Variables {
		m.compiler.Variable(variable.Name, variable.Expression, d, expression.Stored)
	}
	m.conditions = m.compiler.Conditions(s.MatchConditions, d)
	d.Patches = true
	for _, change := range s.Mutations {
		switch {
		case change.PatchType == admissionv1.PatchTypeJSONPatch && change.JSONPatch != nil:
			m.mutations = append(m.mutations, alteration{change.PatchType, m.compiler.Compile(change.JSONPatch.Expression, expression.JSONPatch, d, expression.Stored)})
		case change.PatchType == admissionv1.PatchTypeApplyConfiguration && change.ApplyConfiguration != nil:
			m.mutations = append(m.mutations, alteration{change.PatchType, m.compiler.Compile(change.ApplyConfiguration.Expression, expression.ApplyConfiguration, d, expression.Stored)})
		}
	}
	return m
}

// mutate makes the changed object of a version; reg is the registry of what is written, which knows its structure.
func (m *mutator) mutate(ctx context.Context, change *alteration, in *expression.Input, v *review.Version, reg *registry.Registry) (runtime.Object, error) {
	if change.compiled.Err != nil {
		return nil, change.compiled.Err
	}
	if reg == nil {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("Resource kind %s not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.", v.Kind))
	}
	asTree := *in
	asTree.Trees = true
	a, err := m.compiler.NewActivation(&asTree)
	if err != nil {
		return nil, err
	}
	value, _, failed, fatal := a.Evaluate(ctx, &change.compiled, expression.Budget)
	if fatal != nil {
		return nil, fatal
	}
	if failed != nil {
		return nil, failed
	}
	changed, err := apply(change.kind, value, v, reg)
	if err != nil {
		return nil, err
	}
	if obj, ok := changed.(resource.Object); ok && v.Resource.Default != nil && v.Kind == v.Resource.GVK() {
		v.Resource.Default(obj)
	}
	return changed, nil
}

// apply applies what an expression came to.
func apply(kind admissionv1.PatchType, value ref.Val, v *review.Version, reg *registry.Registry) (runtime.Object, error) {
	if kind == admissionv1.PatchTypeJSONPatch {
		return applyPatch(value, v, reg.Managers.Scheme)
	}
	merged, err := merge(value, v, reg.Managers.Types)
	if err != nil {
		return nil, err
	}
	return typed(merged, v)
}

// typed makes a merged tree an object of the version's type.
func typed(tree *unstructured.Unstructured, v *review.Version) (runtime.Object, error) {
	if _, ok := v.Object.(*unstructured.Unstructured); ok {
		return tree, nil
	}
	out := emptyLike(v.Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree.Object, out); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(v.Kind)
	return out, nil
}
