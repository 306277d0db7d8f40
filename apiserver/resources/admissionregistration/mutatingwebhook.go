package admissionregistration

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// MutatingWebhookConfiguration names servers that change what is written.
var MutatingWebhookConfiguration = resource.Define(resource.Kind[*admissionv1.MutatingWebhookConfiguration]{
	Name: resource.Name{Group: group, Version: "v1", Kind: "MutatingWebhookConfiguration", Plural: "mutatingwebhookconfigurations", Categories: extensions},
	List: &admissionv1.MutatingWebhookConfigurationList{}, Store: "mutatingwebhookconfigurations",
	Default: func(c *admissionv1.MutatingWebhookConfiguration) {
		for i := range c.Webhooks {
			h := &c.Webhooks[i]
			hook{&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds, h.ClientConfig.Service, h.Rules}.setDefaults()
			fill(&h.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		}
	},
	Strategy: resource.Strategy[*admissionv1.MutatingWebhookConfiguration]{
		PrepareForCreate: func(_ context.Context, c *admissionv1.MutatingWebhookConfiguration) { c.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, c, old *admissionv1.MutatingWebhookConfiguration) {
			if !equality.Semantic.DeepEqual(c.Webhooks, old.Webhooks) {
				c.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
			return append(validateWebhooks(c, c.Webhooks, strictHooks()), reserved(c.Name)...)
		},
		ValidateUpdate: func(_ context.Context, c, old *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
			return validateWebhooks(c, c.Webhooks, asBefore(c.Webhooks, old.Webhooks))
		},
		WarningsOnCreate: func(_ context.Context, c *admissionv1.MutatingWebhookConfiguration) []string {
			return virtualWarnings(c.Webhooks)
		},
		WarningsOnUpdate: func(_ context.Context, c, _ *admissionv1.MutatingWebhookConfiguration) []string {
			return append(reservedWarnings(c.Name), virtualWarnings(c.Webhooks)...)
		},
	},
	OwnMetadata: true, NeedsVersion: true, Governs: true,
	Columns: hookColumns,
	Row: func(c *admissionv1.MutatingWebhookConfiguration) []any {
		return []any{c.Name, int64(len(c.Webhooks)), resource.AgeOf(c)}
	},
})
