package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
)

const (
	// failureAnnotation lists, in an audit event, the validations that failed.
	failureAnnotation = "validation.policy.admission.k8s.io/validation_failure"
	// maxFailures is how many it lists.
	maxFailures = 50
	// maxAnnotation is how long an annotation's value may be, in bytes.
	maxAnnotation = 10 * 1024
)

// Validating enforces ValidatingAdmissionPolicies.
type Validating struct {
	Options
	source source[*validator]
}

// NewValidating makes the plugin. It compiles nothing before a policy is bound.
func NewValidating(o Options) *Validating {
	return &Validating{Options: o, source: source[*validator]{
		policies: o.Collection("/registry/validatingadmissionpolicies/"), bindings: o.Collection("/registry/validatingadmissionpolicybindings/"),
		readPolicy: func(obj runtime.Object) hook[*validator] {
			p := obj.(*admissionv1.ValidatingAdmissionPolicy)
			h := hook[*validator]{params: p.Spec.ParamKind, evaluator: compileValidator(&p.Spec)}
			h.constraints, h.broken = constraintsOf(p.Spec.MatchConstraints)
			return h
		},
		readBinding: func(obj runtime.Object) (string, binding) {
			b := obj.(*admissionv1.ValidatingAdmissionPolicyBinding)
			out := bindingOf(b.Spec.ParamRef, b.Spec.MatchResources)
			out.actions = b.Spec.ValidationActions
			return b.Spec.PolicyName, out
		},
	}}
}

// Validate lets all policies in force judge a write. The first that denies it is the error.
func (p *Validating) Validate(ctx context.Context, a *registry.Attributes) error {
	hooks, err := p.source.hooks()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(hooks) == 0 || exempt(a.Resource) {
		return nil
	}
	s := review.New(ctx, a, p.World)
	v := verdict{subject: s, notes: map[string]map[string][]string{}}
	invocations := selectHooks(ctx, s, hooks, &p.Options, v.misconfigured)
	for i := range invocations {
		if err := p.evaluate(ctx, s, &invocations[i], &v); err != nil {
			return err
		}
	}
	v.annotate(ctx)
	return v.error()
}

// evaluate evaluates a policy for each of its parameters.
func (p *Validating) evaluate(ctx context.Context, s *review.Subject, i *invocation[*validator], v *verdict) error {
	version, err := s.Version(i.as)
	if err != nil {
		v.misconfigured(fmt.Errorf("failed to convert object version: %w", err), i.hook, i.binding)
		return nil
	}
	namespace, err := s.SurroundingNamespace(ctx)
	if err != nil {
		return err
	}
	for _, param := range i.params {
		decisions, notes, failures := i.hook.evaluator.validate(ctx, input(s, version, &p.Options, param, namespace))
		for n, d := range decisions {
			if d.denied {
				v.act(ctx, i, n, d)
			}
		}
		for _, n := range notes {
			v.note(i.hook.name, n)
		}
		for _, d := range failures {
			v.deny(i.hook.name, i.binding.name, d)
		}
	}
	return nil
}

// verdict collects what the policies say of a write.
type verdict struct {
	subject  *review.Subject
	denials  []denial
	failures []failedValidation
	notes    map[string]map[string][]string // by policy and key
}

type denial struct {
	message string
	reason  metav1.StatusReason
}

// failedValidation is an entry of the audit annotation.
type failedValidation struct {
	Message           string                         `json:"message"`
	Policy            string                         `json:"policy"`
	Binding           string                         `json:"binding"`
	ExpressionIndex   int                            `json:"expressionIndex"`
	ValidationActions []admissionv1.ValidationAction `json:"validationActions"`
}

func (v *verdict) deny(policy, binding string, d decision) {
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", policy, binding, d.message)
	if binding == "" {
		text = fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", policy, d.message)
	}
	v.denials = append(v.denials, denial{text, d.reason})
}

// misconfigured denies a write because a policy or a binding can't be used, unless failures are ignored.
func (v *verdict) misconfigured(err error, h *hook[*validator], b *binding) {
	if h.evaluator.failure == admissionv1.Ignore {
		return
	}
	if b == nil {
		v.deny(h.name, "", decision{message: fmt.Sprintf("failed to configure policy: %v", err)})
		return
	}
	v.deny(h.name, b.name, decision{message: fmt.Sprintf("failed to configure binding: %v", err)})
}

// act does what a binding wants done when a validation fails.
func (v *verdict) act(ctx context.Context, i *invocation[*validator], index int, d decision) {
	for _, action := range i.binding.actions {
		switch action {
		case admissionv1.Deny:
			v.deny(i.hook.name, i.binding.name, d)
		case admissionv1.Audit:
			v.failures = append(v.failures, failedValidation{d.message, i.hook.name, i.binding.name, index, i.binding.actions})
		case admissionv1.Warn:
			request.Warn(ctx, fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", i.hook.name, i.binding.name, d.message))
		}
	}
}

// note keeps an annotation; the same value of several bindings counts once.
func (v *verdict) note(policy string, n note) {
	if v.notes[policy] == nil {
		v.notes[policy] = map[string][]string{}
	}
	value := n.value[:min(len(n.value), maxAnnotation)]
	if !slices.Contains(v.notes[policy][n.key], value) {
		v.notes[policy][n.key] = append(v.notes[policy][n.key], value)
	}
}

// annotate tells the audit what was found.
func (v *verdict) annotate(ctx context.Context) {
	for policy, keys := range v.notes {
		for key, values := range keys {
			request.Annotate(ctx, policy+"/"+key, strings.Join(values, ", "))
		}
	}
	if len(v.failures) == 0 {
		return
	}
	// Strings and numbers can always be encoded.
	if b, err := json.Marshal(v.failures[:min(len(v.failures), maxFailures)]); err == nil {
		request.Annotate(ctx, failureAnnotation, string(b))
	}
}

// error is the first denial, or nil.
func (v *verdict) error() error {
	if len(v.denials) == 0 {
		return nil
	}
	first := v.denials[0]
	err := v.subject.Forbidden(errors.New(first.message))
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	if first.reason == "" {
		first.reason = metav1.StatusReasonInvalid
	}
	status.ErrStatus.Reason, status.ErrStatus.Code = first.reason, codeOf(first.reason)
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: first.message})
	return status
}
