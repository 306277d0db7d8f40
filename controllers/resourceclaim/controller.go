package resourceclaim

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "resourceclaim-controller"
	// source is what its events name as their source.
	source = "resource_claim"
)

// Component looks after the claims of pods.
var Component = component.Component{
	Name:    name,
	Watches: []string{"pods", "resource.k8s.io/resourceclaims", "resource.k8s.io/resourceclaimtemplates"},
	Writes: []string{"resource.k8s.io/resourceclaims:create", "resource.k8s.io/resourceclaims:delete", "resource.k8s.io/resourceclaims:status.reservedFor of pods",
		"resource.k8s.io/resourceclaims:finalizer " + resourcev1.Finalizer, "pods:status.resourceClaimStatuses"},
	Add: add,
}

func add(env component.Environment) error {
	p := &pods{client: env.Manager.GetClient(), events: env.Events(source)}
	users := handler.EnqueueRequestsFromMapFunc(p.users)
	err := env.Controller(name, 10).
		For(&corev1.Pod{}, builder.WithPredicates(predicate.NewPredicateFuncs(claiming))).
		Watches(&resourcev1.ResourceClaim{}, users).
		Watches(&resourcev1.ResourceClaimTemplate{}, users).
		Complete(component.Quietly(p))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	c := &claims{client: env.Manager.GetClient(), live: env.Manager.GetAPIReader()}
	err = env.Controller(name+"-claims", 10).
		For(&resourcev1.ResourceClaim{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(claimsOf), builder.WithPredicates(predicate.NewPredicateFuncs(claiming))).
		Complete(component.Quietly(c))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// claiming says that a pod has claims, be they its own or made for extended resources.
func claiming(object client.Object) bool {
	pod, ok := object.(*corev1.Pod)
	return ok && (len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil)
}

// claimsOf maps a pod to its claims.
func claimsOf(_ context.Context, object client.Object) (requests []reconcile.Request) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	add := func(claim string) {
		if claim != "" {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: claim}})
		}
	}
	for i := range pod.Spec.ResourceClaims {
		claim, _, _ := Name(pod, &pod.Spec.ResourceClaims[i])
		add(claim)
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		add(extended.ResourceClaimName)
	}
	return requests
}

// claims lets go what no pod uses any more.
type claims struct {
	client client.Client
	live   client.Reader
}

// Reconcile settles one claim.
func (r *claims) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	claim := &resourcev1.ResourceClaim{}
	if err := r.client.Get(ctx, request.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	keep := map[types.UID]bool{}
	for _, reserved := range claim.Status.ReservedFor {
		if reserved.APIGroup != "" || reserved.Resource != "pods" {
			continue
		}
		stays, err := r.stays(ctx, claim.Namespace, reserved)
		if err != nil {
			return reconcile.Result{}, err
		}
		keep[reserved.UID] = stays
	}
	var owner *corev1.Pod
	if pod := Owner(claim); pod != "" {
		owner = &corev1.Pod{}
		err := r.client.Get(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: pod}, owner)
		if apierrors.IsNotFound(err) {
			owner = nil // or not known yet; the garbage collector takes its claim along
		} else if err != nil {
			return reconcile.Result{}, fmt.Errorf("lookup pod: %w", err)
		}
	}
	return reconcile.Result{}, r.carryOut(ctx, claim, Settle(claim, func(c resourcev1.ResourceClaimConsumerReference) bool { return keep[c.UID] }, owner))
}

// stays says whether a pod's reservation stays. One that the cache doesn't know is asked for at the server.
func (r *claims) stays(ctx context.Context, namespace string, reserved resourcev1.ResourceClaimConsumerReference) (bool, error) {
	pod, key := &corev1.Pod{}, types.NamespacedName{Namespace: namespace, Name: reserved.Name}
	err := r.client.Get(ctx, key, pod)
	if apierrors.IsNotFound(err) {
		err = r.live.Get(ctx, key, pod)
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get pod %s/%s: %w", namespace, reserved.Name, err)
	}
	return pod.UID == reserved.UID && !Done(pod), nil
}

func (r *claims) carryOut(ctx context.Context, claim *resourcev1.ResourceClaim, s Settlement) error {
	if s.Status != nil {
		claim.Status = *s.Status
		if err := r.client.Status().Update(ctx, claim); err != nil {
			return fmt.Errorf("release claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	if s.Free {
		controllerutil.RemoveFinalizer(claim, resourcev1.Finalizer)
		if err := r.client.Update(ctx, claim); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("free claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	if s.Delete {
		if err := r.client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete unused generated claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	return nil
}
