package replicaset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

const name = "replicaset-controller"

var replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// Component is the ReplicaSet controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"apps/replicasets", "pods"},
	Writes: []string{
		"apps/replicasets:status", "pods:create for replicasets", "pods:delete for replicasets",
		"pods:ownerReferences for replicasets",
	},
	Add: add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(),
		control: podcontrol.Control{Client: env.Manager.GetClient(), Events: env.Events(name)}, clock: env.Clock,
	}
	err := env.Controller(name, 5).
		For(&appsv1.ReplicaSet{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.replicaSetsOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client  client.Client
	live    client.Reader
	control podcontrol.Control
	clock   clock.PassiveClock
}

// Reconcile makes one pass over one ReplicaSet.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	rs := &appsv1.ReplicaSet{}
	if err := r.client.Get(ctx, request.NamespacedName, rs); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, err := r.observe(ctx, rs)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	failure := r.apply(ctx, rs, plan)
	if err := r.writeStatus(ctx, rs, Status(observed, plan, failure)); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, failure
}

// observe reads everything afresh, adopting and releasing pods on the way.
func (r *reconciler) observe(ctx context.Context, rs *appsv1.ReplicaSet) (Observed, error) {
	observed := Observed{ReplicaSet: rs, Now: r.clock.Now()}
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return observed, reconcile.TerminalError(fmt.Errorf("selector of %s/%s: %w", rs.Namespace, rs.Name, err))
	}
	pods, err := r.control.Candidates(ctx, rs)
	if err != nil {
		return observed, err
	}
	active, terminating := Sort(rs, selector, pods)
	observed.Terminating = terminating
	observed.Active, err = ownership.Claim(ctx, ownership.Claimer{
		Client: r.client, Live: r.live, Owner: rs, Kind: replicaSetKind, Selector: selector,
	}, active)
	if err != nil {
		return observed, err
	}
	if len(observed.Active) > int(*rs.Spec.Replicas) {
		observed.Related, err = r.related(ctx, rs)
	}
	return observed, err
}

// related lists the pods of every ReplicaSet that shares this one's owner.
func (r *reconciler) related(ctx context.Context, rs *appsv1.ReplicaSet) ([]*corev1.Pod, error) {
	owner := metav1.GetControllerOfNoCopy(rs)
	if owner == nil {
		return r.control.Owned(ctx, rs.Namespace, rs.UID)
	}
	var sets appsv1.ReplicaSetList
	if err := r.client.List(ctx, &sets, client.InNamespace(rs.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list replica sets: %w", err)
	}
	var related []*corev1.Pod
	for i := range sets.Items {
		if other := metav1.GetControllerOfNoCopy(&sets.Items[i]); other == nil || other.UID != owner.UID {
			continue
		}
		pods, err := r.control.Owned(ctx, rs.Namespace, sets.Items[i].UID)
		if err != nil {
			return nil, err
		}
		related = append(related, pods...)
	}
	return related, nil
}

// replicaSetsOf maps a pod to the ReplicaSet that owns it or, for an orphan, to all
// that might adopt it.
func (r *reconciler) replicaSetsOf(ctx context.Context, object client.Object) []reconcile.Request {
	return component.Owning(ctx, r.client, object, replicaSetKind.Kind, &appsv1.ReplicaSetList{})
}

// apply makes or deletes pods as planned and gives the first error.
func (r *reconciler) apply(ctx context.Context, rs *appsv1.ReplicaSet, plan Plan) error {
	if plan.Create > 0 {
		return podcontrol.SlowStart(plan.Create, func(int) error {
			return r.control.Create(ctx, rs, podcontrol.NewPod(&rs.Spec.Template, rs, replicaSetKind))
		})
	}
	return podcontrol.Together(len(plan.Delete), func(i int) error { return r.control.Delete(ctx, rs, plan.Delete[i]) })
}

func (r *reconciler) writeStatus(ctx context.Context, rs *appsv1.ReplicaSet, status appsv1.ReplicaSetStatus) error {
	if apiequality.Semantic.DeepEqual(rs.Status, status) {
		return nil
	}
	next := rs.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
