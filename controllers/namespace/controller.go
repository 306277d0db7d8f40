package namespace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "namespace-controller"

// workers is how many namespaces are emptied at the same time, as upstream.
const workers = 10

// Component is the namespace controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"namespaces", "pods"},
	Writes:  []string{"namespaces:status", "namespaces:spec.finalizers", "*:deletecollection in namespaces being deleted"},
	Add:     add,
}

func add(env component.Environment) error {
	config, httpClient := env.Manager.GetConfig(), env.Manager.GetHTTPClient()
	metadataClient, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	r := &reconciler{
		client: env.Manager.GetClient(), metadata: metadataClient,
		discovery: discovery.ToDiscoveryInterfaceWithContext(discoveryClient), clock: env.Clock,
	}
	deleted := predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetDeletionTimestamp() != nil })
	err = env.Controller(name, workers).
		Watches(&corev1.Namespace{}, handler.Funcs{CreateFunc: found, UpdateFunc: changed}, builder.WithPredicates(deleted)).
		Watches(&corev1.Pod{}, handler.Funcs{DeleteFunc: r.podGone}).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// settle is how long a namespace is left alone after its deletion was asked for: who deletes a list of objects that begins with their
// namespace finds the others still there. Upstream waits for 5 seconds, for the sake of API servers that don't know yet.
const settle = 500 * time.Millisecond

// found looks at a namespace that was there before the controller.
func found(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: e.Object.GetName()}})
}

// changed looks at a namespace in a moment if its deletion was asked for just now, else at once.
func changed(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	key := reconcile.Request{NamespacedName: types.NamespacedName{Name: e.ObjectNew.GetName()}}
	if e.ObjectOld.GetDeletionTimestamp() == nil {
		queue.AddAfter(key, settle)
		return
	}
	queue.Add(key)
}

type reconciler struct {
	client    client.Client
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterfaceWithContext
	clock     clock.PassiveClock
}

// podGone wakes a namespace that waits for its pods.
func (r *reconciler) podGone(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	key := types.NamespacedName{Name: e.Object.GetNamespace()}
	namespace := &corev1.Namespace{}
	if err := r.client.Get(ctx, key, namespace); err == nil && namespace.DeletionTimestamp != nil {
		queue.Add(reconcile.Request{NamespacedName: key})
	}
}

// Reconcile makes one pass over one namespace.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace := &corev1.Namespace{}
	if err := r.client.Get(ctx, request.NamespacedName, namespace); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if namespace.DeletionTimestamp == nil || finalized(namespace) {
		return reconcile.Result{}, nil
	}
	since := r.clock.Since(namespace.DeletionTimestamp.Time)
	report, err := r.pass(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.writeStatus(ctx, namespace, report); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case len(report.ContentErrors) > 0 || report.DiscoveryError != nil:
		return reconcile.Result{}, errors.Join(append(report.ContentErrors, report.DiscoveryError)...)
	case !report.Empty():
		return reconcile.Result{RequeueAfter: Delay(since)}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(r.finalize(ctx, namespace))
}

// pass deletes what there is, pods before all else.
func (r *reconciler) pass(ctx context.Context, namespace *corev1.Namespace) (*Report, error) {
	report := NewReport()
	var list corev1.PodList
	if err := r.client.List(ctx, &list, client.InNamespace(namespace.Name), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	grace := Grace(list.Items, r.clock.Since(namespace.DeletionTimestamp.Time))
	for _, c := range r.resources(ctx, report) {
		if c.resource == pods {
			r.empty(ctx, namespace.Name, c, grace, report)
			if report.Remaining[pods] > 0 {
				return report, nil
			}
			continue
		}
		r.empty(ctx, namespace.Name, c, 0, report)
	}
	return report, nil
}

func (r *reconciler) writeStatus(ctx context.Context, namespace *corev1.Namespace, report *Report) error {
	status := *namespace.Status.DeepCopy()
	status.Phase = corev1.NamespaceTerminating
	status.Conditions = Conditions(status.Conditions, report, r.clock.Now())
	if apiequality.Semantic.DeepEqual(namespace.Status, status) {
		return nil
	}
	namespace.Status = status
	return r.client.Status().Update(ctx, namespace)
}

// finalize takes this controller's finalizer off. Should another be left, the namespace
// waits for whoever put it there.
func (r *reconciler) finalize(ctx context.Context, namespace *corev1.Namespace) error {
	namespace.Spec.Finalizers = slices.DeleteFunc(namespace.Spec.Finalizers, func(f corev1.FinalizerName) bool {
		return f == corev1.FinalizerKubernetes
	})
	return r.client.SubResource("finalize").Update(ctx, namespace)
}
