package endpointslice

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "endpointslice-controller"
	// eventSource is what upstream's controller calls itself in events.
	eventSource = "endpoint-slice-controller"
	// missingNodeDelay is how long to wait for a node that a pod claims to run on: the
	// watch of nodes may merely be behind that of pods.
	missingNodeDelay = time.Second
)

// Component is the EndpointSlice controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"services", "pods", "nodes", "discovery.k8s.io/endpointslices"},
	Writes:  []string{"discovery.k8s.io/endpointslices:of services with a selector"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), events: env.Events(eventSource)}
	err := env.Controller(name, 5).
		For(&corev1.Service{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(backends.ServicesOf(env.Manager.GetCache())),
			builder.WithPredicates(backends.PodChanges())).
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
	times  backends.Clockwork
}

// Reconcile brings the slices of one Service up to date. A deleted Service's slices go
// with their owner.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	service := &corev1.Service{}
	err := r.client.Get(ctx, request.NamespacedName, service)
	if apierrors.IsNotFound(err) {
		r.times.Forget(request.NamespacedName)
	}
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !backends.Wanted(service) {
		return reconcile.Result{}, nil
	}
	observed, err := r.observe(ctx, service)
	if err != nil {
		return reconcile.Result{}, err
	}
	triggered := r.times.TriggerTime(service, observed.Pods)
	plan := Decide(observed)
	if err := r.apply(ctx, service, plan, triggered); err != nil {
		if !apierrors.IsConflict(err) {
			r.events.Eventf(service, corev1.EventTypeWarning, "FailedToUpdateEndpointSlices",
				"Error updating Endpoint Slices for Service %s/%s: %v", service.Namespace, service.Name, err)
		}
		return reconcile.Result{}, err
	}
	if len(plan.MissingNodes) > 0 {
		return reconcile.Result{RequeueAfter: missingNodeDelay}, nil
	}
	return reconcile.Result{}, nil
}

func (r *reconciler) observe(ctx context.Context, service *corev1.Service) (Observed, error) {
	observed := Observed{Service: service, Nodes: map[string]*corev1.Node{}}
	var pods corev1.PodList
	err := r.client.List(ctx, &pods, client.InNamespace(service.Namespace),
		client.MatchingLabels(service.Spec.Selector), client.UnsafeDisableDeepCopy)
	if err != nil {
		return observed, fmt.Errorf("list pods: %w", err)
	}
	observed.Pods = pods.Items
	for i := range observed.Pods {
		nodeName := observed.Pods[i].Spec.NodeName
		if _, known := observed.Nodes[nodeName]; known || nodeName == "" {
			continue
		}
		node := &corev1.Node{}
		switch err := r.client.Get(ctx, types.NamespacedName{Name: nodeName}, node, client.UnsafeDisableDeepCopy); {
		case err == nil:
			observed.Nodes[nodeName] = node
		case !apierrors.IsNotFound(err):
			return observed, fmt.Errorf("get node %s: %w", nodeName, err)
		}
	}
	var list discoveryv1.EndpointSliceList
	err = r.client.List(ctx, &list, client.InNamespace(service.Namespace), client.MatchingLabels{
		discoveryv1.LabelServiceName: service.Name, discoveryv1.LabelManagedBy: managedBy,
	})
	if err != nil {
		return observed, fmt.Errorf("list endpoint slices: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			observed.Slices = append(observed.Slices, list.Items[i])
		}
	}
	return observed, nil
}

// apply writes the slices. While the Service is being deleted none is created: it would
// outrun the garbage collector.
func (r *reconciler) apply(ctx context.Context, service *corev1.Service, plan Plan, triggered time.Time) error {
	if service.DeletionTimestamp == nil {
		for _, slice := range plan.Create {
			setTriggerTime(slice, triggered)
			if err := r.client.Create(ctx, slice); err != nil {
				return fmt.Errorf("failed to create EndpointSlice for Service %s/%s: %w", service.Namespace, service.Name, err)
			}
		}
	}
	for _, slice := range plan.Update {
		setTriggerTime(slice, triggered)
		if err := r.client.Update(ctx, slice); err != nil {
			return fmt.Errorf("failed to update %s EndpointSlice for Service %s/%s: %w", slice.Name, service.Namespace, service.Name, err)
		}
	}
	for _, slice := range plan.Delete {
		if err := r.client.Delete(ctx, slice); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("failed to delete %s EndpointSlice for Service %s/%s: %w", slice.Name, service.Namespace, service.Name, err)
		}
	}
	return nil
}

func setTriggerTime(slice *discoveryv1.EndpointSlice, triggered time.Time) {
	delete(slice.Annotations, corev1.EndpointsLastChangeTriggerTime)
	if !triggered.IsZero() {
		metav1.SetMetaDataAnnotation(&slice.ObjectMeta, corev1.EndpointsLastChangeTriggerTime,
			triggered.UTC().Format(time.RFC3339Nano))
	}
}
