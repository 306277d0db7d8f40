package statefulset

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
	"github.com/kogge-dev/kogge/controllers/internal/revision"
)

const name = "statefulset-controller"

var statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// Component is the StatefulSet controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"apps/statefulsets", "apps/controllerrevisions", "pods", "persistentvolumeclaims"},
	Writes: []string{
		"apps/statefulsets:status", "apps/controllerrevisions:* of statefulsets", "pods:create for statefulsets",
		"pods:delete for statefulsets", "pods:ownerReferences for statefulsets", "pods:labels of statefulsets",
		"persistentvolumeclaims:create for statefulsets", "persistentvolumeclaims:ownerReferences for statefulsets",
	},
	Add: add,
}

func add(env component.Environment) error {
	events := env.Events(name)
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), events: events, clock: env.Clock,
		control: podcontrol.Control{Client: env.Manager.GetClient(), Events: events},
	}
	owners := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		return component.Owning(ctx, r.client, object, statefulSetKind.Kind, &appsv1.StatefulSetList{})
	})
	err := env.Controller(name, 5).
		For(&appsv1.StatefulSet{}).
		Watches(&corev1.Pod{}, owners).
		Watches(&appsv1.ControllerRevision{}, owners).
		Watches(&corev1.PersistentVolumeClaim{}, handler.Funcs{DeleteFunc: r.claimDeleted}).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client  client.Client
	live    client.Reader
	events  record.EventRecorder
	control podcontrol.Control
	clock   clock.PassiveClock
}

// claimDeleted wakes the sets that may have waited for a claim of that name to go.
func (r *reconciler) claimDeleted(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var sets appsv1.StatefulSetList
	if err := r.client.List(ctx, &sets, client.InNamespace(e.Object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return // the cache is closing; there is nobody left to wake
	}
	for i := range sets.Items {
		if len(sets.Items[i].Spec.VolumeClaimTemplates) > 0 {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
		}
	}
}

// Reconcile makes one pass over one StatefulSet.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &appsv1.StatefulSet{}
	if err := r.client.Get(ctx, request.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, history, err := r.observe(ctx, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	failure := r.apply(ctx, set, plan)
	statusErr := r.writeStatus(ctx, set, plan.Status)
	for _, one := range expired(observed, history) {
		if err := r.client.Delete(ctx, one); client.IgnoreNotFound(err) != nil {
			failure = errors.Join(failure, fmt.Errorf("delete revision %s: %w", one.Name, err))
		}
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, errors.Join(failure, statusErr)
}

// observe reads everything afresh, adopting and releasing on the way.
func (r *reconciler) observe(ctx context.Context, set *appsv1.StatefulSet) (Observed, []*appsv1.ControllerRevision, error) {
	observed := Observed{Set: set, Now: r.clock.Now(), Claims: map[string]*corev1.PersistentVolumeClaim{}}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return observed, nil, reconcile.TerminalError(fmt.Errorf("selector of %s/%s: %w", set.Namespace, set.Name, err))
	}
	claimer := ownership.Claimer{Client: r.client, Live: r.live, Owner: set, Kind: statefulSetKind, Selector: selector}
	history, err := revision.History(ctx, claimer)
	if err != nil {
		return observed, nil, err
	}
	pods, err := r.control.Candidates(ctx, set)
	if err != nil {
		return observed, nil, err
	}
	var candidates []*corev1.Pod
	for _, pod := range pods {
		if isOwn(set, pod) {
			candidates = append(candidates, pod)
		}
	}
	if observed.Pods, err = ownership.Claim(ctx, claimer, candidates); err != nil {
		return observed, nil, err
	}
	if len(set.Spec.VolumeClaimTemplates) > 0 {
		var claims corev1.PersistentVolumeClaimList
		if err := r.client.List(ctx, &claims, client.InNamespace(set.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return observed, nil, fmt.Errorf("list claims: %w", err)
		}
		for i := range claims.Items {
			observed.Claims[claims.Items[i].Name] = &claims.Items[i]
		}
	}
	return observed, history, r.revisions(ctx, &observed, history)
}

// apply carries a plan out and gives the first error of each kind of step.
func (r *reconciler) apply(ctx context.Context, set *appsv1.StatefulSet, plan Plan) error {
	var failed []error
	for _, claim := range plan.Conflicts {
		r.events.Eventf(set, corev1.EventTypeWarning, "ConflictingController",
			"PersistentVolumeClaim %s has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim", claim)
	}
	for _, claim := range plan.Owners {
		if err := r.client.Update(ctx, claim); err != nil {
			failed = append(failed, fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", claim.Name, err))
		}
	}
	made := map[string]error{}
	for pod, claims := range plan.Claims {
		for _, claim := range claims {
			made[pod] = errors.Join(made[pod], r.createClaim(ctx, set, pod, claim))
		}
	}
	failed = append(failed, podcontrol.SlowStart(len(plan.Create), func(i int) error {
		pod := plan.Create[i]
		if err := made[pod.Name]; err != nil {
			r.report(set, "Create", pod.Name, err)
			return err
		}
		err := r.client.Create(ctx, pod)
		if !apierrors.IsAlreadyExists(err) {
			r.report(set, "Create", pod.Name, err)
		}
		return err
	}))
	failed = append(failed, podcontrol.Together(len(plan.Update), func(i int) error {
		err := r.client.Update(ctx, plan.Update[i])
		r.report(set, "Update", plan.Update[i].Name, err)
		return err
	}))
	failed = append(failed, podcontrol.Together(len(plan.Delete), func(i int) error {
		err := client.IgnoreNotFound(r.client.Delete(ctx, plan.Delete[i].DeepCopy()))
		r.report(set, "Delete", plan.Delete[i].Name, err)
		return err
	}))
	return errors.Join(failed...)
}

func (r *reconciler) createClaim(ctx context.Context, set *appsv1.StatefulSet, pod string, claim *corev1.PersistentVolumeClaim) error {
	switch err := r.client.Create(ctx, claim); {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("failed to create PVC %s: %w", claim.Name, err)
	case err != nil:
		r.events.Eventf(set, corev1.EventTypeWarning, "FailedCreate", "Create Claim %s for Pod %s in StatefulSet %s failed error: %s", claim.Name, pod, set.Name, err)
		return fmt.Errorf("failed to create PVC %s: %w", claim.Name, err)
	}
	r.events.Eventf(set, corev1.EventTypeNormal, "SuccessfulCreate", "Create Claim %s Pod %s in StatefulSet %s success", claim.Name, pod, set.Name)
	return nil
}

// report tells what was done to a pod; verb begins with a capital.
func (r *reconciler) report(set *appsv1.StatefulSet, verb, pod string, err error) {
	if err != nil {
		r.events.Eventf(set, corev1.EventTypeWarning, "Failed"+verb, "%s Pod %s in StatefulSet %s failed error: %s", verb, pod, set.Name, err)
		return
	}
	r.events.Eventf(set, corev1.EventTypeNormal, "Successful"+verb, "%s Pod %s in StatefulSet %s successful", verb, pod, set.Name)
}

func (r *reconciler) writeStatus(ctx context.Context, set *appsv1.StatefulSet, status appsv1.StatefulSetStatus) error {
	if apiequality.Semantic.DeepEqual(set.Status, status) {
		return nil
	}
	next := set.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
