package replication

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
	"github.com/kogge-dev/kogge/controllers/replicaset"
)

const name = "replicationcontroller-controller"

// source is what its events name as their source.
const source = "replication-controller"

var controllerKind = corev1.SchemeGroupVersion.WithKind("ReplicationController")

// Component is the controller of ReplicationControllers.
var Component = component.Component{
	Name:    name,
	Watches: []string{"replicationcontrollers", "pods"},
	Writes: []string{
		"replicationcontrollers:status", "pods:create for replicationcontrollers",
		"pods:delete for replicationcontrollers", "pods:ownerReferences for replicationcontrollers",
	},
	Add: add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), clock: env.Clock,
		control: podcontrol.Control{Client: env.Manager.GetClient(), Events: env.Events(source)},
	}
	owners := func(ctx context.Context, pod client.Object) []reconcile.Request {
		return component.Owning(ctx, r.client, pod, controllerKind.Kind, &corev1.ReplicationControllerList{})
	}
	err := env.Controller(name, 5).
		For(&corev1.ReplicationController{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(owners)).
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

// Reconcile makes one pass over one ReplicationController.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	rc := &corev1.ReplicationController{}
	if err := r.client.Get(ctx, request.NamespacedName, rc); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, err := r.observe(ctx, rc)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := replicaset.Decide(observed)
	failure := r.apply(ctx, rc, plan)
	if err := r.writeStatus(ctx, rc, Status(replicaset.Status(observed, plan, failure))); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, failure
}

// observe reads everything afresh, adopting and releasing pods on the way.
func (r *reconciler) observe(ctx context.Context, rc *corev1.ReplicationController) (replicaset.Observed, error) {
	set := AsReplicaSet(rc)
	observed := replicaset.Observed{ReplicaSet: set, Now: r.clock.Now()}
	pods, err := r.control.Candidates(ctx, rc)
	if err != nil {
		return observed, err
	}
	selector := labels.SelectorFromSet(rc.Spec.Selector)
	active, _ := replicaset.Sort(set, selector, pods)
	observed.Active, err = ownership.Claim(ctx, ownership.Claimer{
		Client: r.client, Live: r.live, Owner: rc, Kind: controllerKind, Selector: selector,
	}, active)
	observed.Related = observed.Active
	return observed, err
}

// apply makes or deletes pods as planned and gives the first error.
func (r *reconciler) apply(ctx context.Context, rc *corev1.ReplicationController, plan replicaset.Plan) error {
	if plan.Create > 0 {
		return podcontrol.SlowStart(plan.Create, func(int) error {
			return r.control.Create(ctx, rc, podcontrol.NewPod(rc.Spec.Template, rc, controllerKind))
		})
	}
	return podcontrol.Together(len(plan.Delete), func(i int) error { return r.control.Delete(ctx, rc, plan.Delete[i]) })
}

func (r *reconciler) writeStatus(ctx context.Context, rc *corev1.ReplicationController, status corev1.ReplicationControllerStatus) error {
	if apiequality.Semantic.DeepEqual(rc.Status, status) {
		return nil
	}
	next := rc.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
