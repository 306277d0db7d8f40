package endpoints

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "endpoints-controller"
	// eventSource is what upstream's controller calls itself in events.
	eventSource = "endpoint-controller"
)

// Component is the Endpoints controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"services", "pods", "endpoints"},
	Writes:  []string{"endpoints:of services with a selector"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), events: env.Events(eventSource)}
	err := env.Controller(name, 5).
		For(&corev1.Service{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(backends.ServicesOf(env.Manager.GetCache())),
			builder.WithPredicates(backends.PodChanges())).
		Watches(&corev1.Endpoints{}, &handler.EnqueueRequestForObject{}).
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
	// services has the keys of Services seen since the start: when one of these goes, its
	// object goes too, whoever made it.
	services sync.Map
}

// Reconcile brings the object of one Service up to date, or deletes it when the Service
// is gone.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	service := &corev1.Service{}
	err := r.client.Get(ctx, request.NamespacedName, service)
	if apierrors.IsNotFound(err) {
		r.times.Forget(request.NamespacedName)
		_, seen := r.services.LoadAndDelete(request.NamespacedName)
		return reconcile.Result{}, r.remove(ctx, request, seen)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("get service: %w", err)
	}
	r.services.Store(request.NamespacedName, struct{}{})
	if !backends.Wanted(service) {
		return reconcile.Result{}, nil
	}
	observed := Observed{Service: service}
	var pods corev1.PodList
	err = r.client.List(ctx, &pods, client.InNamespace(service.Namespace),
		client.MatchingLabels(service.Spec.Selector), client.UnsafeDisableDeepCopy)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("list pods: %w", err)
	}
	observed.Pods = pods.Items
	observed.Triggered = r.times.TriggerTime(service, observed.Pods)
	current := &corev1.Endpoints{}
	switch err := r.client.Get(ctx, request.NamespacedName, current); {
	case err == nil:
		observed.Current = current
	case !apierrors.IsNotFound(err):
		return reconcile.Result{}, fmt.Errorf("get endpoints: %w", err)
	}
	wanted, change := Decide(observed)
	if !change {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.write(ctx, service, wanted)
}

func (r *reconciler) write(ctx context.Context, service *corev1.Service, wanted *corev1.Endpoints) error {
	if wanted.ResourceVersion == "" {
		err := r.client.Create(ctx, wanted)
		if err != nil && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			r.events.Eventf(wanted, corev1.EventTypeWarning, "FailedToCreateEndpoint",
				"Failed to create endpoint for service %v/%v: %v", service.Namespace, service.Name, err)
		}
		return err
	}
	err := r.client.Update(ctx, wanted)
	if err != nil && !apierrors.IsConflict(err) {
		r.events.Eventf(wanted, corev1.EventTypeWarning, "FailedToUpdateEndpoint",
			"Failed to update endpoint %v/%v: %v", service.Namespace, service.Name, err)
	}
	return err
}

// remove deletes an object whose Service is gone: any, when the Service was seen to go,
// and one that bears our label, should it have gone while no controller ran. Others were
// made by hand before their Service, or are leader-election records of old.
func (r *reconciler) remove(ctx context.Context, request reconcile.Request, seen bool) error {
	object := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !seen && object.Labels[managedByLabel] != managedBy {
		return nil
	}
	if err := r.client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete endpoints: %w", err)
	}
	return nil
}
