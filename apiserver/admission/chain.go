package admission

import (
	"context"

	"github.com/kogge-dev/kogge/apiserver/admission/policy"
	"github.com/kogge-dev/kogge/apiserver/admission/webhook"
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

// Extensions are the plugins by which users extend the chain.
type Extensions struct {
	MutatingPolicies   *policy.Mutating
	MutatingWebhooks   *webhook.Mutating
	ValidatingPolicies *policy.Validating
	ValidatingWebhooks *webhook.Validating
}

// New makes the chain, in the order of upstream's default plugins.
func New(objects Objects, x Extensions) *Chain {
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
		podResizeValidator(objects),
		{name: "MutatingAdmissionPolicy", mutate: x.MutatingPolicies.Mutate},
		{name: "MutatingAdmissionWebhook", mutate: x.MutatingWebhooks.Mutate},
		{name: "ValidatingAdmissionPolicy", validate: x.ValidatingPolicies.Validate},
		{name: "ValidatingAdmissionWebhook", validate: x.ValidatingWebhooks.Validate},
	}}
}

// UseRoles adds the judge of roles and bindings, which comes before all that users add.
func (c *Chain) UseRoles(validate func(ctx context.Context, a *registry.Attributes) error) {
	c.plugins = append([]plugin{{name: "RBAC", validate: validate}}, c.plugins...)
}

// Mutate lets every plugin change the object: twice, if one of those that users added did.
func (c *Chain) Mutate(ctx context.Context, a *registry.Attributes) error {
	if err := c.mutate(ctx, a); err != nil {
		return err
	}
	if a.Again == nil || !a.Again.Wanted {
		return nil
	}
	a.Again.Running = true
	return c.mutate(ctx, a)
}

func (c *Chain) mutate(ctx context.Context, a *registry.Attributes) error {
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
