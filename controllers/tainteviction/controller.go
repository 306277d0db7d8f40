package tainteviction

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "taint-eviction-controller"

// Component is the taint eviction controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"pods", "nodes"},
	Writes:  []string{"pods:status.conditions DisruptionTarget by taint", "pods:delete by taint"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), events: env.Events(name), clock: env.Clock,
		planned: map[types.NamespacedName]plan{},
	}
	err := env.Controller(name, 8).
		For(&corev1.Pod{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.podsOn)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	events record.EventRecorder
	clock  clock.PassiveClock

	mu      sync.Mutex
	planned map[types.NamespacedName]plan
}

// plan remembers that a pod is to go, so that it can be said when it needn't.
type plan struct {
	uid   types.UID
	since time.Time
}

// podsOn maps a node with NoExecute taints to its pods. When the taints go, the handler
// asks with the node as it was too.
func (r *reconciler) podsOn(ctx context.Context, object client.Object) []reconcile.Request {
	node, ok := object.(*corev1.Node)
	if !ok || !executes(node.Spec.Taints) {
		return nil
	}
	var pods corev1.PodList
	err := r.client.List(ctx, &pods, client.MatchingFields{component.PodNodeIndex: node.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	requests := make([]reconcile.Request, 0, len(pods.Items))
	for i := range pods.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
	}
	return requests
}

func executes(taints []corev1.Taint) bool {
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectNoExecute {
			return true
		}
	}
	return false
}

// Reconcile looks at one pod.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.client.Get(ctx, request.NamespacedName, pod, client.UnsafeDisableDeepCopy); err != nil {
		r.cancel(request.NamespacedName, nil)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if pod.Spec.NodeName == "" {
		return reconcile.Result{}, nil
	}
	node := &corev1.Node{}
	err := r.client.Get(ctx, types.NamespacedName{Name: pod.Spec.NodeName}, node, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("get node %s: %w", pod.Spec.NodeName, err)
	}
	if err != nil || !executes(node.Spec.Taints) {
		r.cancel(request.NamespacedName, pod)
		return reconcile.Result{}, nil
	}
	now := r.clock.Now()
	verdict := Decide(pod, node.Spec.Taints, r.plan(request.NamespacedName, pod, now), now)
	switch {
	case verdict.Evict:
		return reconcile.Result{}, r.evict(ctx, pod.DeepCopy())
	case verdict.After == 0:
		r.cancel(request.NamespacedName, pod)
	}
	return reconcile.Result{RequeueAfter: verdict.After}, nil
}

// plan notes the pod and gives when that was first done.
func (r *reconciler) plan(key types.NamespacedName, pod *corev1.Pod, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.planned[key]; ok && known.uid == pod.UID {
		return known.since
	}
	r.planned[key] = plan{uid: pod.UID, since: now}
	return now
}

// cancel drops the plan. pod is nil when it is gone anyway.
func (r *reconciler) cancel(key types.NamespacedName, pod *corev1.Pod) {
	r.mu.Lock()
	known, ok := r.planned[key]
	delete(r.planned, key)
	r.mu.Unlock()
	if ok && pod != nil && known.uid == pod.UID && pod.DeletionTimestamp == nil {
		r.report(key, "Cancelling deletion of Pod %s")
	}
}

func (r *reconciler) report(key types.NamespacedName, format string) {
	about := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: key.Namespace, Name: key.Name}
	r.events.Eventf(about, corev1.EventTypeNormal, "TaintManagerEviction", format, key)
}

// evict marks the pod as disrupted and deletes it.
func (r *reconciler) evict(ctx context.Context, pod *corev1.Pod) error {
	key, uid := client.ObjectKeyFromObject(pod), pod.UID
	r.report(key, "Marking for deletion Pod %s")
	disrupted := component.Disrupt(pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", r.clock.Now())
	if disrupted {
		if err := r.client.Status().Update(ctx, pod); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	err := r.client.Delete(ctx, pod, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete pod %s: %w", key, err)
	}
	return nil
}
