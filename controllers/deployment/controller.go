package deployment

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
)

const name = "deployment-controller"

// Component is the Deployment controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"apps/deployments", "apps/replicasets", "pods"},
	Writes: []string{
		"apps/deployments:status", "apps/deployments:annotation deployment.kubernetes.io/revision",
		"apps/replicasets:create", "apps/replicasets:delete", "apps/replicasets:spec",
		"apps/replicasets:annotations", "apps/replicasets:ownerReferences",
	},
	Add: add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(),
		events: env.Events(name), clock: env.Clock,
	}
	err := env.Controller(name, 5).
		For(&appsv1.Deployment{}).
		Watches(&appsv1.ReplicaSet{}, handler.EnqueueRequestsFromMapFunc(r.deploymentsOf)).
		Watches(&corev1.Pod{}, handler.Funcs{DeleteFunc: r.podDeleted}).
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

// Reconcile makes one pass over one Deployment.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	d := &appsv1.Deployment{}
	if err := r.client.Get(ctx, request.NamespacedName, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, err := r.observe(ctx, d)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	if err := r.apply(ctx, d, plan); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, nil
}

// observe reads everything afresh, adopting and releasing ReplicaSets on the way.
func (r *reconciler) observe(ctx context.Context, d *appsv1.Deployment) (Observed, error) {
	observed := Observed{Deployment: d, Now: r.clock.Now()}
	if selectsAll(d) {
		return observed, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return observed, reconcile.TerminalError(fmt.Errorf("selector of %s/%s: %w", d.Namespace, d.Name, err))
	}
	var list appsv1.ReplicaSetList
	if err := r.client.List(ctx, &list, client.InNamespace(d.Namespace)); err != nil {
		return observed, fmt.Errorf("list replica sets: %w", err)
	}
	sets := make([]*appsv1.ReplicaSet, 0, len(list.Items))
	for i := range list.Items {
		sets = append(sets, &list.Items[i])
	}
	observed.ReplicaSets, err = ownership.Claim(ctx, ownership.Claimer{
		Client: r.client, Live: r.live, Owner: d, Kind: deploymentKind, Selector: selector,
	}, sets)
	if err != nil {
		return observed, err
	}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		observed.Pods, err = r.pods(ctx, observed.ReplicaSets)
	}
	return observed, err
}

func (r *reconciler) pods(ctx context.Context, sets []*appsv1.ReplicaSet) (map[types.UID][]*corev1.Pod, error) {
	pods := make(map[types.UID][]*corev1.Pod, len(sets))
	for _, rs := range sets {
		var list corev1.PodList
		err := r.client.List(ctx, &list, client.InNamespace(rs.Namespace),
			client.MatchingFields{component.PodOwnerIndex: string(rs.UID)})
		if err != nil {
			return nil, fmt.Errorf("list pods of replica set %s: %w", rs.Name, err)
		}
		for i := range list.Items {
			pods[rs.UID] = append(pods[rs.UID], &list.Items[i])
		}
	}
	return pods, nil
}

// deploymentsOf maps a ReplicaSet to the Deployment that owns it or, for an orphan, to
// all that might adopt it.
func (r *reconciler) deploymentsOf(ctx context.Context, object client.Object) []reconcile.Request {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		if owner.Kind != deploymentKind.Kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}}}
	}
	return component.Selecting(ctx, r.client, object, &appsv1.DeploymentList{})
}

// apply carries a plan out: ReplicaSets first, the status last, so that the status
// never promises what hasn't happened.
func (r *reconciler) apply(ctx context.Context, d *appsv1.Deployment, plan Plan) error {
	if plan.SelectsAll {
		r.events.Event(d, corev1.EventTypeWarning, "SelectingAll",
			"This deployment is selecting all pods. A non-empty selector is required.")
	}
	if plan.Create != nil {
		if err := r.create(ctx, d, plan); err != nil {
			return err
		}
	}
	for _, write := range plan.Writes {
		after := write.After
		if err := r.client.Update(ctx, after); err != nil {
			return fmt.Errorf("update replica set %s: %w", after.Name, err)
		}
		r.reportScaling(d, after.Name, *write.Before.Spec.Replicas, *after.Spec.Replicas)
	}
	for _, rs := range plan.Deletes {
		err := r.client.Delete(ctx, rs, client.Preconditions{UID: &rs.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete replica set %s: %w", rs.Name, err)
		}
	}
	return r.writeStatus(ctx, d, plan.Status, plan.Revision)
}

func (r *reconciler) reportScaling(d *appsv1.Deployment, set string, from, to int32) {
	switch {
	case from < to:
		r.events.Eventf(d, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled up replica set %s from %d to %d", set, from, to)
	case from > to:
		r.events.Eventf(d, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled down replica set %s from %d to %d", set, from, to)
	}
}

// create makes the new ReplicaSet. When the name is taken it is either ours, made in a
// pass whose end was lost, or another template has the same hash: then the collision
// count changes the hash, and the next pass tries anew.
func (r *reconciler) create(ctx context.Context, d *appsv1.Deployment, plan Plan) error {
	want := plan.Create
	err := r.client.Create(ctx, want)
	switch {
	case err == nil:
		r.reportScaling(d, want.Name, 0, *want.Spec.Replicas)
		return nil
	case apierrors.IsAlreadyExists(err):
		return r.resolveCollision(ctx, d, want, err)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	}
	message := fmt.Sprintf("Failed to create new replica set %q: %v", want.Name, err)
	r.events.Event(d, corev1.EventTypeWarning, reasonCreateError, message)
	err = fmt.Errorf("create replica set %s: %w", want.Name, err)
	if !hasDeadline(d) {
		return err
	}
	status := d.Status
	setCondition(&status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse,
		reasonCreateError, message, r.clock.Now()))
	if statusErr := r.writeStatus(ctx, d, status, d.Annotations[revisionAnnotation]); statusErr != nil {
		return fmt.Errorf("%w; and then report it: %w", err, statusErr)
	}
	return err
}

func (r *reconciler) resolveCollision(ctx context.Context, d *appsv1.Deployment, want *appsv1.ReplicaSet, taken error) error {
	existing := &appsv1.ReplicaSet{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(want), existing); err != nil {
		return fmt.Errorf("look at the replica set that has the name: %w", err)
	}
	if metav1.IsControlledBy(existing, d) && sameTemplate(&existing.Spec.Template, &d.Spec.Template) {
		return nil
	}
	status := *d.Status.DeepCopy()
	if status.CollisionCount == nil {
		status.CollisionCount = new(int32)
	}
	*status.CollisionCount++
	if err := r.writeStatus(ctx, d, status, d.Annotations[revisionAnnotation]); err != nil {
		return err
	}
	return fmt.Errorf("hash collision on replica set %s: %w", want.Name, taken)
}

// writeStatus writes the status and the revision annotation if they differ. The API
// server keeps annotations of a status update, which is how the two travel together.
func (r *reconciler) writeStatus(ctx context.Context, d *appsv1.Deployment, status appsv1.DeploymentStatus, revision string) error {
	if statusEqual(&d.Status, &status) && d.Annotations[revisionAnnotation] == revision {
		return nil
	}
	next := d.DeepCopy()
	next.Status = status
	if revision != "" {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, revisionAnnotation, revision)
	}
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
