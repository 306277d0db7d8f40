package policy

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/internal/expression"
)

// Options of the plugins.
type Options struct {
	World review.World
	// Kind gives the registry of a kind, of which parameters may be; nil if there is none.
	Kind func(gvk schema.GroupVersionKind) *registry.Registry
	// Registry of a resource.
	Registry func(gvr schema.GroupVersionResource) *registry.Registry
	// Authorizer whom expressions may ask.
	Authorizer authz.Authorizer
	// Collection of a key prefix.
	Collection func(prefix string) *cache.Collection
}

// policies are never judged by policies, nor are their bindings: one could lock itself in.
var policies = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}

// exempt says whether no policy is asked about a resource.
func exempt(r *resource.Resource) bool {
	if r.Group == admissionv1.GroupName {
		return slices.Contains(policies, r.Plural)
	}
	return review.IsVirtual(r)
}

// input is what a policy's expressions ask about.
func input(s *review.Subject, v *review.Version, o *Options, params runtime.Object, namespace *corev1.Namespace) *expression.Input {
	in := &expression.Input{Object: v.Object, OldObject: v.Old, Request: s.Request(v), Params: params, Namespace: shownNamespace(namespace)}
	in.Authorizer, in.ResourceAuthorizer = s.Authorizers(o.Authorizer)
	return in
}

// shownNamespace leaves out what expressions have no type for.
func shownNamespace(ns *corev1.Namespace) *corev1.Namespace {
	if ns == nil {
		return nil
	}
	out := &corev1.Namespace{ObjectMeta: ns.ObjectMeta, Spec: ns.Spec, Status: ns.Status}
	out.ManagedFields, out.OwnerReferences, out.SelfLink = nil, nil, ""
	return out
}

// invocation is a policy to be evaluated for one binding and one parameter object.
type invocation[E any] struct {
	hook    *hook[E]
	binding *binding
	as      *resource.Resource
	params  []runtime.Object
}

// selectHooks gives the invocations for a write. Policies and bindings that can't be used are told to fail.
func selectHooks[E any](ctx context.Context, s *review.Subject, hooks []*hook[E], o *Options, fail func(err error, h *hook[E], b *binding)) []invocation[E] {
	var out []invocation[E]
	for _, h := range hooks {
		as, err := (*resource.Resource)(nil), h.broken
		if err == nil {
			as, err = s.Match(ctx, &h.constraints)
		}
		if err != nil {
			fail(err, h, nil)
			continue
		}
		if as == nil {
			continue
		}
		r, err := o.paramRegistry(h.params)
		if err != nil {
			fail(err, h, nil)
			continue
		}
		for i := range h.bindings {
			b := &h.bindings[i]
			matches, err := bound(ctx, s, b)
			if err == nil && !matches {
				continue
			}
			var found []runtime.Object
			if err == nil {
				found, err = params(ctx, r, b.params, s.NamespaceName())
			}
			if err != nil {
				fail(err, h, b)
				continue
			}
			if len(found) > 0 {
				out = append(out, invocation[E]{h, b, as, found})
			}
		}
	}
	return out
}

// bound says whether a binding selects a write.
func bound(ctx context.Context, s *review.Subject, b *binding) (bool, error) {
	if b.broken != nil || b.constraints == nil {
		return b.broken == nil, b.broken
	}
	as, err := s.Match(ctx, b.constraints)
	return as != nil, err
}
