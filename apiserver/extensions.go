package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/apiserver/admission"
	"github.com/kogge-dev/kogge/apiserver/admission/policy"
	"github.com/kogge-dev/kogge/apiserver/admission/webhook"
	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/internal/callout"
)

// extensions makes the admission plugins that users extend the server with.
func (s *Server) extensions() admission.Extensions {
	o := policy.Options{
		World: world{s.handlers}, Kind: s.handlers.Kind, Registry: s.handlers.Registry, Authorizer: s.authz, Collection: s.cache.Collection,
	}
	w := webhook.Options{
		World: world{s.handlers}, Callout: s.callout(), Authorizer: s.authz, Collection: s.cache.Collection,
		Scheme: types(), Logger: s.log,
	}
	return admission.Extensions{
		MutatingPolicies: policy.NewMutating(o), MutatingWebhooks: webhook.NewMutating(w),
		ValidatingPolicies: policy.NewValidating(o), ValidatingWebhooks: webhook.NewValidating(w),
	}
}

// switchPlugins leaves the plugins in the chain that the options ask for.
func (s *Server) switchPlugins(chain *admission.Chain) error {
	missing, err := chain.Enable(s.options.EnableAdmissionPlugins)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		s.log.Warn("admission plugins that are asked for and not there", "plugins", missing)
	}
	return chain.Disable(s.options.DisableAdmissionPlugins)
}

// callout is how servers of users are reached.
func (s *Server) callout() callout.Options {
	return callout.Options{Endpoint: s.endpoint, Dial: s.options.PodDial, Wrap: s.options.InterceptCallouts}
}

// endpoint gives the address of one ready endpoint of a Service's port.
func (s *Server) endpoint(namespace, name string, port int32) (string, error) {
	own := objects{s.handlers}
	obj, err := own.Get("", "services", namespace, name)
	if apierrors.IsNotFound(err) {
		return "", apierrors.NewNotFound(corev1.Resource("service"), name)
	}
	if err != nil {
		return "", err
	}
	list, err := own.List(discoveryv1.GroupName, "endpointslices", namespace)
	if err != nil {
		return "", err
	}
	var slices []*discoveryv1.EndpointSlice
	for _, o := range list {
		if o.GetLabels()[discoveryv1.LabelServiceName] == name {
			slices = append(slices, o.(*discoveryv1.EndpointSlice))
		}
	}
	return callout.Endpoint(obj.(*corev1.Service), slices, port)
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
