package handlers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// gate is admission for an endpoint that is sent another thing than the object below which it stands: a Binding, an Eviction,
// the options of a connection.
type gate struct {
	attributes *registry.Attributes
	admission  registry.Admission
}

// gate makes the gate of a request; options are nil for a connection.
func (s *Scope) gate(o registry.Operation, payload, options runtime.Object, dryRun bool) gate {
	a := &registry.Attributes{Operation: o, Resource: s.Resource, Subresource: s.subresource(), Namespace: s.Info.Namespace, Name: s.Info.Name,
		Options: options, DryRun: dryRun}
	if obj, ok := payload.(resource.Object); ok {
		a.Object = obj
		if a.Name == "" {
			a.Name = obj.GetName()
		}
	} else {
		a.Payload = payload
	}
	// Questions have no registry; admission is the same for all.
	r := s.Registry
	if r == nil {
		r = s.handlers.Registry(corev1.SchemeGroupVersion.WithResource("pods"))
	}
	return gate{a, r.Admission}
}

func (g gate) mutate(ctx context.Context) error { return g.admission.Mutate(ctx, g.attributes) }

func (g gate) judge(ctx context.Context) error { return g.admission.Validate(ctx, g.attributes) }

// pass is both.
func (g gate) pass(ctx context.Context) error {
	if err := g.mutate(ctx); err != nil {
		return err
	}
	return g.judge(ctx)
}
