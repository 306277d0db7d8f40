package webhook

import (
	"log/slog"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/internal/callout"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Options of the plugins.
type Options struct {
	World review.World
	// Callout is how webhooks are reached.
	Callout callout.Options
	// Authorizer whom match conditions may ask.
	Authorizer authz.Authorizer
	// Collection of a key prefix.
	Collection func(prefix string) *cache.Collection
	Scheme     *runtime.Scheme
	Logger     *slog.Logger
}

// exempt says whether no webhook is asked about a resource: one could lock itself in.
func exempt(r *resource.Resource) bool {
	return r.Group == admissionv1.GroupName || review.IsVirtual(r)
}
