package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/admission"
	"github.com/kogge-dev/kogge/apiserver/admission/policy"
	"github.com/kogge-dev/kogge/apiserver/handlers"
)

// extensions makes the admission plugins that users extend the server with.
func (s *Server) extensions() admission.Extensions {
	o := policy.Options{
		World: world{s.handlers}, Kind: s.handlers.Kind, Registry: s.handlers.Registry, Authorizer: s.authz, Collection: s.cache.Collection,
	}
	return admission.Extensions{MutatingPolicies: policy.NewMutating(o), ValidatingPolicies: policy.NewValidating(o)}
}

// world is what a review looks up, in this server.
type world struct{ *handlers.Handlers }

// Namespace by its name.
func (w world) Namespace(_ context.Context, name string) (*corev1.Namespace, error) {
	obj, err := objects{w.Handlers}.Get("", "namespaces", "", name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}
