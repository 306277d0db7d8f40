package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/admission"
	"github.com/kogge-dev/kogge/apiserver/admission/policy"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// extensions makes the admission plugins that users extend the server with.
func (s *Server) extensions() admission.Extensions {
	o := policy.Options{
		World: world{s}, Kind: s.handlers.Kind, Registry: s.handlers.Registry, Authorizer: s.authz, Collection: s.cache.Collection,
	}
	return admission.Extensions{MutatingPolicies: policy.NewMutating(o), ValidatingPolicies: policy.NewValidating(o)}
}

// world is what a review looks up, in this server.
type world struct{ s *Server }

func (w world) Namespace(_ context.Context, name string) (*corev1.Namespace, error) {
	obj, err := w.s.lookUp("namespaces", "", name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

func (w world) Versions(r *resource.Resource) []*resource.Resource { return w.s.handlers.Versions(r) }
