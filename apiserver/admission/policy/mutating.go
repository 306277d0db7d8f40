package policy

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/registry"
)

// Mutating enforces MutatingAdmissionPolicies.
type Mutating struct {
	Options
	source source[*mutator]
}

// NewMutating makes the plugin. It compiles nothing before a policy is bound.
func NewMutating(o Options) *Mutating {
	return &Mutating{Options: o, source: source[*mutator]{
		policies: o.Collection("/registry/mutatingadmissionpolicies/"), bindings: o.Collection("/registry/mutatingadmissionpolicybindings/"),
		readPolicy: func(obj runtime.Object) hook[*mutator] {
			p := obj.(*admissionv1.MutatingAdmissionPolicy)
			h := hook[*mutator]{params: p.Spec.ParamKind, evaluator: compileMutator(&p.Spec)}
			h.constraints, h.broken = constraintsOf(p.Spec.MatchConstraints)
			return h
		},
		readBinding: func(obj runtime.Object) (string, binding) {
			b := obj.(*admissionv1.MutatingAdmissionPolicyBinding)
			return b.Spec.PolicyName, bindingOf(b.Spec.ParamRef, b.Spec.MatchResources)
		},
	}}
}

// Mutate lets all policies in force change what is written, one after the other.
func (p *Mutating) Mutate(ctx context.Context, a *registry.Attributes) error {
	hooks, err := p.source.hooks()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(hooks) == 0 || a.Operation == registry.Delete || exempt(a.Resource) {
		return nil
	}
	s := review.New(ctx, a, p.World)
	failures := refusals{subject: s}
	invocations := selectHooks(ctx, s, hooks, &p.Options, failures.misconfigured)
	if len(invocations) > 0 {
		if err := p.run(ctx, s, invocations, &failures); err != nil {
			return err
		}
	}
	return failures.error()
}

// run runs the policies that select a write.
func (p *Mutating) run(ctx context.Context, s *review.Subject, invocations []invocation[*mutator], failures *refusals) error {
	m := s.Memory("MutatingAdmissionPolicy")
	m.Begin(s)
	defer m.End(s)
	namespace, err := s.SurroundingNamespace(ctx)
	if err != nil {
		return err
	}
	for i := range invocations {
		for _, param := range invocations[i].params {
			if err := p.invoke(ctx, s, m, &invocations[i], param, namespace, failures); err != nil {
				return err
			}
		}
	}
	return nil
}

// invoke runs one policy with one parameter object.
func (p *Mutating) invoke(ctx context.Context, s *review.Subject, m *review.Memory, i *invocation[*mutator], param runtime.Object, namespace *corev1.Namespace, failures *refusals) error {
	v, err := s.Version(i.as)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	h := i.hook
	holds, err := h.evaluator.conditions.Hold(ctx, input(s, v, &p.Options, param, nil))
	if err != nil {
		failures.add(err, h, i.binding, metav1.StatusReasonInvalid)
		return nil
	}
	self := ranOf(h.name, i.binding.name, param)
	if !holds || !m.May(s, self) {
		return nil
	}
	before := v.Object
	for n := range h.evaluator.mutations {
		if v.Object == nil {
			break
		}
		changed, err := h.evaluator.mutate(ctx, &h.evaluator.mutations[n], input(s, v, &p.Options, param, namespace), v, p.Registry(v.GVR()))
		var status *apierrors.StatusError
		switch {
		case errors.As(err, &status):
			return status
		case err != nil:
			failures.add(err, h, i.binding, metav1.StatusReasonInvalid)
		default:
			v.Change(changed)
		}
	}
	if !equality.Semantic.DeepEqual(before, v.Object) {
		m.Changed(s)
	}
	if h.evaluator.again {
		m.Ran(self)
	}
	if err := s.Accept(v); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}

// refusals collects why policies could not do what they are for.
type refusals struct {
	subject *review.Subject
	list    []denial
}

func (r *refusals) misconfigured(err error, h *hook[*mutator], b *binding) {
	if b == nil {
		r.add(fmt.Errorf("failed to configure policy: %w", err), h, nil, "")
		return
	}
	r.add(fmt.Errorf("failed to configure binding: %w", err), h, b, "")
}

// add keeps a failure, unless the policy ignores failures.
func (r *refusals) add(err error, h *hook[*mutator], b *binding, reason metav1.StatusReason) {
	if h.evaluator.failure == admissionv1.Ignore {
		return
	}
	text := fmt.Sprintf("policy %q denied request: %s", h.name, err)
	if b != nil {
		text = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", h.name, b.name, err)
	}
	r.list = append(r.list, denial{text, reason})
}

// error tells the first failure, with all of them as causes; nil if there is none. The code stays that of a refusal.
func (r *refusals) error() error {
	if len(r.list) == 0 {
		return nil
	}
	err := r.subject.Forbidden(errors.New("admission request denied by policy"))
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	status.ErrStatus.Message = r.list[0].message
	if reason := r.list[0].reason; reason != "" {
		status.ErrStatus.Reason = reason
	}
	for _, d := range r.list {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: d.message})
	}
	return status
}
