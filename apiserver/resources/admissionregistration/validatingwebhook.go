package admissionregistration

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// group of all kinds here.
const group = "admissionregistration.k8s.io"

// extensions is the category of all kinds that extend the API.
var extensions = []string{"api-extensions"}

var hookColumns = []metav1.TableColumnDefinition{
	resource.NameColumn,
	resource.Column("Webhooks", "integer", "Webhooks indicates the number of webhooks registered in this configuration"),
	resource.AgeColumn,
}

// ValidatingWebhookConfiguration names servers that judge writes.
var ValidatingWebhookConfiguration = resource.Define(resource.Kind[*admissionv1.ValidatingWebhookConfiguration]{
	Name: resource.Name{Group: group, Version: "v1", Kind: "ValidatingWebhookConfiguration", Plural: "validatingwebhookconfigurations", Categories: extensions},
	List: &admissionv1.ValidatingWebhookConfigurationList{}, Store: "validatingwebhookconfigurations",
	Default: func(c *admissionv1.ValidatingWebhookConfiguration) {
		for i := range c.Webhooks {
			h := &c.Webhooks[i]
			hook{&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds, h.ClientConfig.Service, h.Rules}.setDefaults()
		}
	},
	Strategy: resource.Strategy[*admissionv1.ValidatingWebhookConfiguration]{
		PrepareForCreate: func(_ context.Context, c *admissionv1.ValidatingWebhookConfiguration) { c.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, c, old *admissionv1.ValidatingWebhookConfiguration) {
			if !equality.Semantic.DeepEqual(c.Webhooks, old.Webhooks) {
				c.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, c *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
			return append(validateWebhooks(c, commonHooks(c.Webhooks), strictHooks()), reserved(c.Name)...)
		},
		ValidateUpdate: func(_ context.Context, c, old *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
			hooks, before := commonHooks(c.Webhooks), commonHooks(old.Webhooks)
			return validateWebhooks(c, hooks, asBefore(hooks, before))
		},
		WarningsOnCreate: func(_ context.Context, c *admissionv1.ValidatingWebhookConfiguration) []string {
			return virtualWarnings(commonHooks(c.Webhooks))
		},
		WarningsOnUpdate: func(_ context.Context, c, _ *admissionv1.ValidatingWebhookConfiguration) []string {
			return append(reservedWarnings(c.Name), virtualWarnings(commonHooks(c.Webhooks))...)
		},
	},
	OwnMetadata: true, NeedsVersion: true, Governs: true,
	Columns: hookColumns,
	Row: func(c *admissionv1.ValidatingWebhookConfiguration) []any {
		return []any{c.Name, int64(len(c.Webhooks)), resource.AgeOf(c)}
	},
})

// commonHooks makes mutating webhooks of validating ones, which have all their fields but one.
func commonHooks(hooks []admissionv1.ValidatingWebhook) []admissionv1.MutatingWebhook {
	never := admissionv1.NeverReinvocationPolicy
	out := make([]admissionv1.MutatingWebhook, 0, len(hooks))
	for _, h := range hooks {
		out = append(out, admissionv1.MutatingWebhook{
			Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, MatchPolicy: h.MatchPolicy,
			NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, SideEffects: h.SideEffects, TimeoutSeconds: h.TimeoutSeconds,
			AdmissionReviewVersions: h.AdmissionReviewVersions, MatchConditions: h.MatchConditions, ReinvocationPolicy: &never,
		})
	}
	return out
}
