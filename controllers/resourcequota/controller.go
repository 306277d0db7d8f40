package resourcequota

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/internal/quota"
)

const name = "resourcequota-controller"

const (
	// settleDelay is how long after a change of a status the quota is counted anew. What
	// admission charges comes before the object does; until it is there, a count would
	// take the charge back.
	settleDelay = 2 * time.Second
	// unknownDelay is how long it takes until a resource that isn't served is looked for
	// again.
	unknownDelay = 5 * time.Second
	// overduePeriod is how often quotas are counted though nothing happened: pods whose
	// deletion is long overdue stop counting. Upstream's period.
	overduePeriod = 5 * time.Minute
)

// Component is the controller of ResourceQuotas.
var Component = component.Component{
	Name:    name,
	Watches: []string{"resourcequotas", "pods", "services", "persistentvolumeclaims", "*: metadata of what quotas count"},
	Writes:  []string{"resourcequotas:status"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), clock: env.Clock}
	built, err := env.Controller(name, 5).Watches(&corev1.ResourceQuota{}, quotaEvents()).Build(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	r.watches = newWatches(env.Manager, built, env.Clock)
	return nil
}

type reconciler struct {
	client  client.Client
	clock   clock.PassiveClock
	watches *watches
}

// quotaEvents has a quota counted at once when its bounds change, and a while after its
// status did: somebody may have overwritten it.
func quotaEvents() handler.EventHandler {
	request := func(object client.Object) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
	}
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { q.Add(request(e.Object)) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { q.Add(request(e.Object)) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			before, ok := e.ObjectOld.(*corev1.ResourceQuota)
			after, ok2 := e.ObjectNew.(*corev1.ResourceQuota)
			if !ok || !ok2 || !apiequality.Semantic.DeepEqual(before.Spec, after.Spec) {
				q.Add(request(e.ObjectNew))
				return
			}
			if !apiequality.Semantic.DeepEqual(before.Status, after.Status) {
				q.AddAfter(request(e.ObjectNew), settleDelay)
			}
		},
	}
}

// Reconcile counts one quota.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	q := &corev1.ResourceQuota{}
	if err := r.client.Get(ctx, request.NamespacedName, q); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return reconcile.Result{}, r.watches.prune(ctx)
		}
		return reconcile.Result{}, err
	}
	result := reconcile.Result{RequeueAfter: overduePeriod}
	counted := corev1.ResourceList{}
	for _, evaluator := range quota.Measured(quota.Names(q.Spec.Hard)) {
		objects, err := r.watches.list(ctx, evaluator, q.Namespace)
		if isUnknown(err) {
			result.RequeueAfter = unknownDelay
			continue
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		counted = quota.Add(counted, r.count(q, evaluator, objects))
	}
	wanted := Status(q, counted)
	if !stale(q.Status, wanted) {
		return result, nil
	}
	next := q.DeepCopy()
	next.Status = wanted
	if err := r.client.Status().Update(ctx, next); err != nil {
		return reconcile.Result{}, fmt.Errorf("update status: %w", err)
	}
	return result, nil
}

func (r *reconciler) count(q *corev1.ResourceQuota, evaluator quota.Evaluator, objects []runtime.Object) corev1.ResourceList {
	return Count(&q.Spec, evaluator, objects, r.clock.Now())
}
