package volumeprotection

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const claimsName = "persistentvolumeclaim-protection-controller"

// Claims protects PersistentVolumeClaims that pods use.
var Claims = component.Component{
	Name:    claimsName,
	Watches: []string{"persistentvolumeclaims", "pods"},
	Writes:  []string{"persistentvolumeclaims:finalizer kubernetes.io/pvc-protection", "persistentvolumeclaims:condition Unused"},
	Add:     addClaims,
}

func addClaims(env component.Environment) error {
	r := &claims{client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), clock: env.Clock}
	err := env.Controller(claimsName, 5).
		For(&corev1.PersistentVolumeClaim{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(claimsOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", claimsName, err)
	}
	return nil
}

// claimsOf maps a pod to the claims that it has as volumes.
func claimsOf(_ context.Context, object client.Object) (requests []reconcile.Request) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	for _, claim := range component.ClaimsOf(pod) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: claim}})
	}
	return requests
}

type claims struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
}

// Reconcile looks after one claim.
func (r *claims) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.client.Get(ctx, request.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var cached corev1.PodList
	err := r.client.List(ctx, &cached, client.InNamespace(claim.Namespace),
		client.MatchingFields{component.PodClaimIndex: claim.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("list pods: %w", err)
	}
	if condition := unused(claim, anyOf(cached.Items, claim, refersTo), r.clock.Now()); condition != nil {
		return reconcile.Result{}, r.tell(ctx, claim, *condition)
	}
	used := anyOf(cached.Items, claim, mounts)
	if Decide(claim, ClaimFinalizer, used) == Release {
		// The cache may not have heard of a pod yet.
		var list corev1.PodList
		if err := r.live.List(ctx, &list, client.InNamespace(claim.Namespace)); err != nil {
			return reconcile.Result{}, fmt.Errorf("list pods: %w", err)
		}
		used = anyOf(list.Items, claim, mounts)
	}
	return reconcile.Result{}, carryOut(ctx, r.client, claim, ClaimFinalizer, Decide(claim, ClaimFinalizer, used))
}

func anyOf(pods []corev1.Pod, claim *corev1.PersistentVolumeClaim, uses func(*corev1.Pod, *corev1.PersistentVolumeClaim) bool) bool {
	for i := range pods {
		if uses(&pods[i], claim) {
			return true
		}
	}
	return false
}

func (r *claims) tell(ctx context.Context, claim *corev1.PersistentVolumeClaim, condition corev1.PersistentVolumeClaimCondition) error {
	next := claim.DeepCopy()
	told := false
	for i := range next.Status.Conditions {
		if next.Status.Conditions[i].Type == condition.Type {
			next.Status.Conditions[i], told = condition, true
		}
	}
	if !told {
		next.Status.Conditions = append(next.Status.Conditions, condition)
	}
	if err := r.client.Status().Update(ctx, next); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
