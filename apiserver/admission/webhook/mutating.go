package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Mutating asks mutating webhooks.
type Mutating struct {
	Options
	source source
}

// NewMutating makes the plugin.
func NewMutating(o Options) *Mutating {
	p := &Mutating{Options: o}
	p.source = source{collection: o.Collection("/registry/mutatingwebhookconfigurations/"), read: func(obj runtime.Object) []*hook {
		c := obj.(*registrationv1.MutatingWebhookConfiguration)
		var hooks []*hook
		for _, w := range c.Webhooks {
			hooks = append(hooks, newHook(&p.Options, c.Name, w))
		}
		return hooks
	}}
	return p
}

// Mutate asks the webhooks that select a write one after the other; each sees what those before it did.
func (p *Mutating) Mutate(ctx context.Context, a *registry.Attributes) error {
	hooks, err := p.source.hooks()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(hooks) == 0 || exempt(a.Resource) {
		return nil
	}
	s := review.New(ctx, a, p.World)
	m := s.Memory("MutatingAdmissionWebhook")
	m.Begin(s)
	defer m.End(s)
	for n, h := range hooks {
		i, err := h.selected(ctx, s, &p.Options)
		if err != nil {
			return err
		}
		if i == nil || !m.May(s, h.id) {
			continue
		}
		if err := p.ask(ctx, s, m, i, n); err != nil {
			return err
		}
	}
	return nil
}

// ask asks one webhook and does what it wants done.
func (p *Mutating) ask(ctx context.Context, s *review.Subject, m *review.Memory, i *invocation, n int) error {
	round := 0
	if s.Again.Running {
		round = 1
	}
	const prefix = "mutation.webhook.admission.k8s.io/"
	at := fmt.Sprintf("%sround_%d_index_%d", prefix, round, n)
	response, err := i.call(ctx, s, true)
	changed := false
	if err == nil {
		changed, err = p.apply(ctx, s, i, response, fmt.Sprintf("patch.webhook.admission.k8s.io/round_%d_index_%d", round, n))
	}
	annotate(ctx, at, map[string]any{"configuration": i.hook.configuration, "webhook": i.hook.Name, "mutated": changed})
	if changed {
		m.Changed(s)
	}
	if r := i.hook.ReinvocationPolicy; r != nil && *r == registrationv1.IfNeededReinvocationPolicy {
		m.Ran(i.hook.id)
	}
	if err == nil {
		return nil
	}
	if matters := i.hook.outcome(err); matters != nil {
		return matters
	}
	p.Logger.Warn("webhook failed, which is ignored", "webhook", i.hook.Name, "error", err)
	if !errors.Is(err, context.Canceled) {
		request.Annotate(ctx, failedOpen+at, i.hook.Name)
	}
	if ctx.Err() != nil {
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	}
	return nil
}

// apply applies a webhook's patch to the object and says whether that changed it.
func (p *Mutating) apply(ctx context.Context, s *review.Subject, i *invocation, r *admissionv1.AdmissionResponse, note string) (bool, error) {
	if len(r.Patch) == 0 {
		return false, nil
	}
	patch, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		return false, i.hook.cannot("received undecodable patch in webhook response: %w", err)
	}
	if len(patch) == 0 {
		return false, nil
	}
	v := i.version
	if v.Object == nil {
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", i.hook.Name))
	}
	if *r.PatchType != admissionv1.PatchTypeJSONPatch {
		return false, i.hook.cannot("unsupported patch type %q", *r.PatchType)
	}
	patched, err := p.patched(v, patch)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	changed := !equality.Semantic.DeepEqual(v.Object, patched)
	annotate(ctx, note, map[string]any{"configuration": i.hook.configuration, "webhook": i.hook.Name, "patch": patch, "patchType": "JSONPatch"})
	if obj, ok := patched.(resource.Object); ok && v.Resource.Default != nil && v.Kind == v.Resource.GVK() {
		v.Resource.Default(obj)
	}
	v.Change(patched)
	if err := s.Accept(v); err != nil {
		return changed, apierrors.NewInternalError(err)
	}
	return changed, nil
}

// patched makes the patched object of a version's.
func (p *Mutating) patched(v *review.Version, patch jsonpatch.Patch) (runtime.Object, error) {
	before, err := json.Marshal(v.Object)
	if err != nil {
		return nil, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, err
	}
	lax := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, p.Scheme, p.Scheme, jsonserializer.SerializerOptions{})
	into := reflect.New(reflect.TypeOf(v.Object).Elem()).Interface().(runtime.Object)
	out, _, err := lax.Decode(after, nil, into)
	return out, err
}

// annotate tells the audit something that is a structure. Maps of strings, flags and patches can always be encoded.
func annotate(ctx context.Context, key string, value map[string]any) {
	if b, err := json.Marshal(value); err == nil {
		request.Annotate(ctx, key, string(b))
	}
}
