package podgc

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "pod-garbage-collector-controller"

// Component is the collector of lost pods.
var Component = component.Component{
	Name:    name,
	Watches: []string{"nodes", "pods"},
	Writes:  []string{"pods:status of pods on nodes that are gone", "pods:delete on nodes that are gone"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), clock: env.Clock,
		missing: map[string]time.Time{},
	}
	err := env.Controller(name, 2).
		For(&corev1.Node{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.missingNodeOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock

	mu sync.Mutex
	// missing is since when each node has been missed.
	missing map[string]time.Time
}

// missingNodeOf maps a pod to its node, if that isn't there.
func (r *reconciler) missingNodeOf(ctx context.Context, object client.Object) []reconcile.Request {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return nil
	}
	key := types.NamespacedName{Name: pod.Spec.NodeName}
	if err := r.client.Get(ctx, key, &corev1.Node{}, client.UnsafeDisableDeepCopy); err == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

// Reconcile looks for one node, and gives its pods up when it has been missed for long.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	err := r.client.Get(ctx, request.NamespacedName, &corev1.Node{}, client.UnsafeDisableDeepCopy)
	if err == nil {
		r.found(request.Name)
		return reconcile.Result{}, nil
	}
	if !apierrors.IsNotFound(err) {
		return reconcile.Result{}, fmt.Errorf("get node: %w", err)
	}
	if wait := Wait(r.missed(request.Name)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	if err := r.live.Get(ctx, request.NamespacedName, &corev1.Node{}); !apierrors.IsNotFound(err) {
		return reconcile.Result{RequeueAfter: quarantine}, err
	}
	defer r.found(request.Name)
	return reconcile.Result{}, r.giveUp(ctx, request.Name)
}

func (r *reconciler) missed(node string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.missing[node]; !ok {
		r.missing[node] = r.clock.Now()
	}
	return r.clock.Since(r.missing[node])
}

func (r *reconciler) found(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.missing, node)
}

func (r *reconciler) giveUp(ctx context.Context, node string) error {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, client.MatchingFields{component.PodNodeIndex: node}); err != nil {
		return fmt.Errorf("list pods of node %s: %w", node, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if Fail(pod, r.clock.Now()) {
			if err := r.client.Status().Update(ctx, pod); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("mark pod %s/%s as failed: %w", pod.Namespace, pod.Name, err)
			}
		}
		err := r.client.Delete(ctx, pod, client.GracePeriodSeconds(0),
			client.Preconditions{UID: ptr.To(pod.UID)})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}
