package webhook

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/internal/callout"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/internal/expression"
	"k8s.io/utils/ptr"
)

// hook is one webhook of a configuration.
type hook struct {
	admissionv1.MutatingWebhook
	configuration string
	// id tells it apart from all others.
	id          string
	constraints review.Constraints

	conditions func() *expression.Conditions
	client     func() (*rest.RESTClient, error)
}

// ignores says that failures of the webhook don't matter.
func (h *hook) ignores() bool {
	return h.FailurePolicy != nil && *h.FailurePolicy == admissionv1.Ignore
}

// newHook prepares a webhook. Its client and conditions are made when they are first needed.
func newHook(o *Options, configuration string, w admissionv1.MutatingWebhook) *hook {
	h := &hook{MutatingWebhook: w, configuration: configuration}
	exact := w.MatchPolicy == nil || *w.MatchPolicy == admissionv1.Exact
	for _, r := range w.Rules {
		h.constraints.Rules.Rules = append(h.constraints.Rules.Rules, admissionv1.NamedRuleWithOperations{RuleWithOperations: r})
	}
	h.constraints.Rules.Exact = exact
	h.constraints.SetSelectors(w.NamespaceSelector, w.ObjectSelector)
	h.conditions = sync.OnceValue(func() *expression.Conditions {
		return expression.NewCompiler(false).Conditions(w.MatchConditions, expression.Declarations{Authorizer: true})
	})
	h.client = sync.OnceValues(func() (*rest.RESTClient, error) { return callout.New(o.Callout, target(&w.ClientConfig)) })
	return h
}

func target(c *admissionv1.WebhookClientConfig) callout.Target {
	if s := c.Service; s != nil {
		return callout.NewTarget(nil, &callout.Service{Namespace: s.Namespace, Name: s.Name, Path: ptr.Deref(s.Path, "")}, s.Port, c.CABundle)
	}
	return callout.NewTarget(c.URL, nil, nil, c.CABundle)
}

// source gives the webhooks that are configured. It reads them from the cache when something changed.
type source struct {
	collection *cache.Collection
	read       func(obj runtime.Object) []*hook

	mu      sync.Mutex
	current atomic.Pointer[configured]
}

// configured is what was read at some number of changes. A configuration keeps its webhooks while its version is the same.
type configured struct {
	changes   int64
	byVersion map[string][]*hook
	hooks     []*hook
}

// hooks gives all webhooks, by name of their configuration and then in its order.
func (s *source) hooks() ([]*hook, error) {
	changes := s.collection.Changes()
	if c := s.current.Load(); c != nil && c.changes == changes {
		return c.hooks, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current.Load()
	changes = s.collection.Changes()
	if before != nil && before.changes == changes {
		return before.hooks, nil
	}
	next := &configured{changes: changes, byVersion: map[string][]*hook{}}
	var failed error
	s.collection.Snapshot().Ascend(s.collection.Prefix(), s.collection.Prefix(), func(e *cache.Entry) bool {
		version := fmt.Sprint(e.Key, "@", e.Revision)
		hooks, ok := []*hook(nil), false
		if before != nil {
			hooks, ok = before.byVersion[version]
		}
		if !ok {
			obj, err := e.Object()
			if err != nil {
				failed = fmt.Errorf("read %s: %w", e.Key, err)
				return false
			}
			hooks = identify(s.read(obj), obj.(resource.Object).GetName())
		}
		next.byVersion[version] = hooks
		next.hooks = append(next.hooks, hooks...)
		return true
	})
	if failed != nil {
		return nil, failed
	}
	s.current.Store(next)
	return next.hooks, nil
}

// identify gives each webhook of a configuration an id; names may repeat in old ones.
func identify(hooks []*hook, configuration string) []*hook {
	seen := map[string]int{}
	for _, h := range hooks {
		h.id = fmt.Sprintf("%s/%s/%d", configuration, h.Name, seen[h.Name])
		seen[h.Name]++
	}
	return hooks
}

// invocation is a webhook that is to be asked about a write.
type invocation struct {
	hook    *hook
	version *review.Version
}

// selected gives the invocation of a webhook, or nil when it is not to be asked.
func (h *hook) selected(ctx context.Context, s *review.Subject, o *Options) (*invocation, error) {
	as, err := s.Match(ctx, &h.constraints)
	if as == nil || err != nil {
		return nil, err
	}
	v, err := s.Version(as)
	if err != nil {
		return nil, err
	}
	if len(h.MatchConditions) == 0 {
		return &invocation{h, v}, nil
	}
	in := &expression.Input{Object: v.Object, OldObject: v.Old, Request: s.Request(v)}
	in.Authorizer, in.ResourceAuthorizer = s.Authorizers(o.Authorizer)
	holds, err := h.conditions().Hold(ctx, in)
	switch {
	case err != nil && h.ignores():
		return nil, nil
	case err != nil:
		return nil, s.Refused(err)
	case !holds:
		return nil, nil
	}
	return &invocation{h, v}, nil
}
