package admission

import (
	"context"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// plugin is one step of the chain; either function may be nil.
type plugin struct {
	name     string
	mutate   func(ctx context.Context, a *registry.Attributes) error
	validate func(ctx context.Context, a *registry.Attributes) error
}

// Chain runs all plugins in order. It is a registry.Admission.
type Chain struct{ plugins []plugin }

// New makes the chain, in the order of upstream's default plugins.
func New(objects Objects) *Chain {
	return &Chain{plugins: []plugin{
		namespaceLifecycle(objects),
		limitRanger(objects),
		serviceAccount(objects),
		taintNodesByCondition(),
		priority(objects),
		defaultTolerationSeconds(),
		defaultStorageClass(objects),
		storageObjectInUseProtection(),
		persistentVolumeClaimResize(objects),
		runtimeClass(objects),
		certificateSubjectRestriction(),
		defaultIngressClass(objects),
		podTopologyLabels(objects),
	}}
}

// Mutate lets every plugin change the object.
func (c *Chain) Mutate(ctx context.Context, a *registry.Attributes) error {
	for _, p := range c.plugins {
		if p.mutate != nil {
			if err := p.mutate(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// Validate lets every plugin judge the object as it will be stored.
func (c *Chain) Validate(ctx context.Context, a *registry.Attributes) error {
	for _, p := range c.plugins {
		if p.validate != nil {
			if err := p.validate(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// isCore says whether the attributes are about a resource of the core group itself.
func isCore(a *registry.Attributes, plural string) bool {
	return a.Resource.Group == "" && a.Resource.Plural == plural && a.Subresource == ""
}
