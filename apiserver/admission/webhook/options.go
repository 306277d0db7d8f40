package webhook

import (
	"context"
	"log/slog"
	"net"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Dial opens a connection.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Options of the plugins.
type Options struct {
	World review.World
	// Endpoint gives the address of one ready endpoint of a Service's port. Its error is a Status.
	Endpoint func(namespace, name string, port int32) (string, error)
	// Dial reaches endpoints; nil: the plain network.
	Dial Dial
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
