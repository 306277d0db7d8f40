package backends

import (
	"context"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ServiceOfSlice maps an EndpointSlice that a controller manages to the name of its Service, which is that of its Endpoints
// too, so that what others do to the slice is undone. Slices of others are nobody's.
func ServiceOfSlice(managedBy string) handler.MapFunc {
	return func(_ context.Context, slice client.Object) []reconcile.Request {
		service := slice.GetLabels()[discoveryv1.LabelServiceName]
		if service == "" || slice.GetLabels()[discoveryv1.LabelManagedBy] != managedBy {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: slice.GetNamespace(), Name: service}}}
	}
}
