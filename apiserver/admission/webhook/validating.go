package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// failedOpen begins the audit annotation of a webhook that could not be asked, and need not be.
const failedOpen = "failed-open."

// Validating asks validating webhooks.
type Validating struct {
	Options
	source source
}

// NewValidating makes the plugin.
func NewValidating(o Options) *Validating {
	p := &Validating{Options: o}
	p.source = source{collection: o.Collection("/registry/validatingwebhookconfigurations/"), read: func(obj runtime.Object) []*hook {
		c := obj.(*registrationv1.ValidatingWebhookConfiguration)
		var hooks []*hook
		for _, w := range c.Webhooks {
			hooks = append(hooks, newHook(&p.Options, c.Name, registrationv1.MutatingWebhook{
				Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
				NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
				AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
			}))
		}
		return hooks
	}}
	return p
}

// Validate asks all webhooks that select a write at once. The first that refuses it is the error.
func (p *Validating) Validate(ctx context.Context, a *registry.Attributes) error {
	hooks, err := p.source.hooks()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(hooks) == 0 || exempt(a.Resource) {
		return nil
	}
	s := review.New(ctx, a, p.World)
	var selected []*invocation
	for _, h := range hooks {
		i, err := h.selected(ctx, s, &p.Options)
		if err != nil {
			return err
		}
		if i != nil {
			selected = append(selected, i)
		}
	}
	if len(selected) > 0 && ctx.Err() != nil {
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	}
	return p.ask(ctx, s, selected)
}

func (p *Validating) ask(ctx context.Context, s *review.Subject, selected []*invocation) error {
	failures := make([]error, len(selected))
	var all sync.WaitGroup
	for n, i := range selected {
		all.Go(func() {
			_, err := i.call(ctx, s, false)
			if err == nil {
				return
			}
			if failures[n] = i.hook.outcome(err); failures[n] != nil {
				return
			}
			p.Logger.Warn("webhook failed, which is ignored", "webhook", i.hook.Name, "error", err)
			if !errors.Is(err, context.Canceled) {
				request.Annotate(ctx, fmt.Sprintf("%svalidating.webhook.admission.k8s.io/round_0_index_%d", failedOpen, n), i.hook.Name)
			}
		})
	}
	all.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}
