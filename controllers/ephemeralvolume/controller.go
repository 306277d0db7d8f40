package ephemeralvolume

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-helpers/storage/ephemeral"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "ephemeral-volume-controller"
	// source is what its events name as their source.
	source = "ephemeral_volume"
)

// Component makes the claims of ephemeral volumes.
var Component = component.Component{
	Name:    name,
	Watches: []string{"pods", "persistentvolumeclaims"},
	Writes:  []string{"persistentvolumeclaims:create for ephemeral volumes"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), events: env.Events(source)}
	wanted := predicate.NewPredicateFuncs(func(object client.Object) bool {
		pod, ok := object.(*corev1.Pod)
		return ok && Wanted(pod)
	})
	err := env.Controller(name, 5).
		For(&corev1.Pod{}, builder.WithPredicates(wanted)).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(r.podsOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	events record.EventRecorder
}

// podsOf maps a claim to the pods that have it as a volume.
func (r *reconciler) podsOf(ctx context.Context, claim client.Object) (requests []reconcile.Request) {
	var pods corev1.PodList
	err := r.client.List(ctx, &pods, client.InNamespace(claim.GetNamespace()),
		client.MatchingFields{component.PodClaimIndex: claim.GetName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range pods.Items {
		if Wanted(&pods.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
		}
	}
	return requests
}

// Reconcile makes the claims that one pod lacks.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.client.Get(ctx, request.NamespacedName, pod); err != nil || !Wanted(pod) {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	for i := range pod.Spec.Volumes {
		if err := r.ensure(ctx, pod, &pod.Spec.Volumes[i]); err != nil {
			r.events.Event(pod, corev1.EventTypeWarning, "FailedBinding", err.Error())
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

func (r *reconciler) ensure(ctx context.Context, pod *corev1.Pod, volume *corev1.Volume) error {
	if volume.Ephemeral == nil {
		return nil
	}
	present := &corev1.PersistentVolumeClaim{}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: ephemeral.VolumeClaimName(pod, volume)}
	switch err := r.client.Get(ctx, key, present); {
	case apierrors.IsNotFound(err):
		present = nil
	case err != nil:
		return fmt.Errorf("ephemeral volume %s: %w", volume.Name, err)
	}
	claim, err := Decide(pod, volume, present)
	if err != nil || claim == nil {
		return err
	}
	if err := r.client.Create(ctx, claim); err != nil {
		return fmt.Errorf("ephemeral volume %s: create PVC %s: %w", volume.Name, claim.Name, err)
	}
	return nil
}
