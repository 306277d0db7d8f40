package replicaset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
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
		events: env.Events(name), clock: env.Clock,
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
	client client.Client
	live   client.Reader
	events record.EventRecorder
	clock  clock.PassiveClock
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
	owned, err := r.pods(ctx, rs.Namespace, rs.UID)
	if err != nil {
		return observed, err
	}
	orphans, err := r.pods(ctx, rs.Namespace, "")
	if err != nil {
		return observed, err
	}
	var candidates []*corev1.Pod
	for _, pod := range append(owned, orphans...) {
		switch {
		case podstate.Active(pod):
			candidates = append(candidates, pod)
		case podstate.Terminating(pod) && metav1.IsControlledBy(pod, rs) && selector.Matches(labels.Set(pod.Labels)):
			observed.Terminating = append(observed.Terminating, pod)
		}
	}
	observed.Active, err = ownership.Claim(ctx, ownership.Claimer{
		Client: r.client, Live: r.live, Owner: rs, Kind: replicaSetKind, Selector: selector,
	}, candidates)
	if err != nil {
		return observed, err
	}
	if len(observed.Active) > int(*rs.Spec.Replicas) {
		observed.Related, err = r.related(ctx, rs)
	}
	return observed, err
}

// pods lists the pods whose controller has the given uid. They belong to the cache and
// must not be changed.
func (r *reconciler) pods(ctx context.Context, namespace string, owner types.UID) ([]*corev1.Pod, error) {
	var list corev1.PodList
	err := r.client.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingFields{component.PodOwnerIndex: string(owner)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := make([]*corev1.Pod, 0, len(list.Items))
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	return pods, nil
}

// related lists the pods of every ReplicaSet that shares this one's owner.
func (r *reconciler) related(ctx context.Context, rs *appsv1.ReplicaSet) ([]*corev1.Pod, error) {
	owner := metav1.GetControllerOfNoCopy(rs)
	if owner == nil {
		return r.pods(ctx, rs.Namespace, rs.UID)
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
		pods, err := r.pods(ctx, rs.Namespace, sets.Items[i].UID)
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
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		if owner.Kind != replicaSetKind.Kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}}}
	}
	return component.Selecting(ctx, r.client, object, &appsv1.ReplicaSetList{})
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
