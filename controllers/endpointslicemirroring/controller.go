package endpointslicemirroring

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "endpointslice-mirroring-controller"
	// source is what its events name as their source.
	source = "endpoint-slice-mirroring-controller"
)

// Component mirrors Endpoints.
var Component = component.Component{
	Name:    name,
	Watches: []string{"endpoints", "services", "discovery.k8s.io/endpointslices"},
	Writes:  []string{"discovery.k8s.io/endpointslices:of services without a selector"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), events: env.Events(source)}
	err := env.Controller(name, 5).
		For(&corev1.Endpoints{}).
		Watches(&corev1.Service{}, &handler.EnqueueRequestForObject{}).
		Watches(&discoveryv1.EndpointSlice{}, handler.EnqueueRequestsFromMapFunc(backends.ServiceOfSlice(managedBy))).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	events record.EventRecorder
}

// Reconcile brings the slices of one Endpoints object up to date.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	present, err := r.slices(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	endpoints, service := &corev1.Endpoints{}, &corev1.Service{}
	found, err := r.find(ctx, request.NamespacedName, endpoints, service)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found || !Mirrored(endpoints, service) {
		return reconcile.Result{}, r.apply(ctx, endpoints, Plan{Delete: present})
	}
	plan := Decide(endpoints, backends.Repack(endpoints.Subsets), present)
	if plan.Invalid > 0 {
		r.events.Eventf(endpoints, corev1.EventTypeWarning, "InvalidIPAddress",
			"Skipped %d invalid IP addresses when mirroring to EndpointSlices", plan.Invalid)
	}
	if plan.Skipped > plan.Invalid {
		r.events.Eventf(endpoints, corev1.EventTypeWarning, "TooManyAddressesToMirror",
			"A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped", maxEndpoints, plan.Skipped)
	}
	return reconcile.Result{}, r.apply(ctx, endpoints, plan)
}

// find reads all objects of the name; not found, if one is missing.
func (r *reconciler) find(ctx context.Context, key types.NamespacedName, objects ...client.Object) (bool, error) {
	for _, object := range objects {
		switch err := r.client.Get(ctx, key, object); {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("get %T %s: %w", object, key, err)
		}
	}
	return true, nil
}

func (r *reconciler) slices(ctx context.Context, key types.NamespacedName) ([]*discoveryv1.EndpointSlice, error) {
	var list discoveryv1.EndpointSliceList
	err := r.client.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingLabels{
		discoveryv1.LabelServiceName: key.Name, discoveryv1.LabelManagedBy: managedBy,
	})
	if err != nil {
		return nil, fmt.Errorf("list endpoint slices: %w", err)
	}
	present := make([]*discoveryv1.EndpointSlice, 0, len(list.Items))
	for i := range list.Items {
		present = append(present, &list.Items[i])
	}
	return present, nil
}

// apply writes the slices. While the Endpoints are being deleted none is created: it would
// outrun the garbage collector.
func (r *reconciler) apply(ctx context.Context, endpoints *corev1.Endpoints, plan Plan) error {
	for _, slice := range plan.Create {
		if endpoints.DeletionTimestamp != nil {
			break
		}
		if err := r.client.Create(ctx, slice); err != nil {
			return fmt.Errorf("failed to create EndpointSlice for Endpoints %s/%s: %w", endpoints.Namespace, endpoints.Name, err)
		}
	}
	for _, slice := range plan.Update {
		if err := r.client.Update(ctx, slice); err != nil {
			return fmt.Errorf("failed to update %s EndpointSlice for Endpoints %s/%s: %w", slice.Name, endpoints.Namespace, endpoints.Name, err)
		}
	}
	for _, slice := range plan.Delete {
		if err := r.client.Delete(ctx, slice); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("failed to delete %s EndpointSlice for Endpoints %s/%s: %w", slice.Name, slice.Namespace, endpoints.Name, err)
		}
	}
	return nil
}
