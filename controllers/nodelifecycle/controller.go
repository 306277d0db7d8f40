package nodelifecycle

import (
	"context"
	"fmt"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-helpers/node/topology"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

const (
	name = "node-lifecycle-controller"
	// eventSource is what upstream's controller calls itself in events.
	eventSource = "node-controller"
	// workers is how many nodes are looked at at the same time, as upstream.
	workers = 8
	// excludeLabel keeps a node out of the reckoning of failing zones.
	excludeLabel = "node.kubernetes.io/exclude-disruption"
)

// Component is the node lifecycle controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"nodes", "pods", "coordination.k8s.io/leases"},
	Writes: []string{
		"nodes:status.conditions of silent nodes", "nodes:spec.taints by condition",
		"pods:status.conditions Ready on silent nodes",
	},
	Add: add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), events: env.Events(eventSource),
		clock: env.Clock, zones: newZones(env.Clock), memory: map[string]memory{},
	}
	if err := env.Controller(name, workers).For(&corev1.Node{}).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	live   client.Reader
	events record.EventRecorder
	clock  clock.PassiveClock
	zones  *zones

	mu     sync.Mutex
	memory map[string]memory
}

// memory is what is known of a node from one look to the next.
type memory struct {
	uid    types.UID
	health Health
	// podsPending says that the pods of a node found silent are still to be marked.
	podsPending bool
}

// Reconcile looks at one node, and comes again after monitorPeriod.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	err := r.client.Get(ctx, request.NamespacedName, node, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		r.forget(request.Name)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("get node: %w", err)
	}
	known := r.recall(node)
	if err := r.examine(ctx, node, &known); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.markPods(ctx, node, &known); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.taint(ctx, node); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: monitorPeriod}, nil
}

// recall gives what is known of a node; one seen for the first time is announced.
func (r *reconciler) recall(node *corev1.Node) memory {
	r.mu.Lock()
	known, ok := r.memory[node.Name]
	if !ok || known.uid != node.UID {
		// Who found the node silent may have ended before its pods were marked.
		known = memory{uid: node.UID, podsPending: readiness(node) != "" && readiness(node) != corev1.ConditionTrue}
		r.memory[node.Name] = known
	}
	r.mu.Unlock()
	if !ok {
		r.report(node.Name, node.UID, "RegisteredNode", "Node %s event: Registered Node %s in Controller", node.Name, node.Name)
	}
	return known
}

func (r *reconciler) forget(node string) {
	r.mu.Lock()
	known, ok := r.memory[node]
	delete(r.memory, node)
	r.mu.Unlock()
	r.zones.forget(node)
	if ok {
		r.report(node, known.uid, "RemovingNode", "Node %s event: Removing Node %s from Controller", node, node)
	}
}

func (r *reconciler) remember(node string, known memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory[node] = known
}

func (r *reconciler) report(node string, uid types.UID, reason, format string, args ...any) {
	about := &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node, UID: uid}
	r.events.Eventf(about, corev1.EventTypeNormal, reason, format, args...)
}

// examine finds out whether the node is silent and writes that down. node has the
// conditions afterwards.
func (r *reconciler) examine(ctx context.Context, node *corev1.Node, known *memory) error {
	now := r.clock.Now()
	lease, err := r.lease(ctx, r.client, node.Name)
	if err != nil {
		return err
	}
	known.health = known.health.Observe(node, lease, now)
	if known.health.Silent(node, now) {
		// The cache may be what is behind. Ask the server before anything is declared lost.
		if lease, err = r.lease(ctx, r.live, node.Name); err != nil {
			return err
		}
		known.health = known.health.Observe(node, lease, now)
	}
	r.remember(node.Name, *known)
	if !known.health.Silent(node, now) {
		return nil
	}
	conditions := LostConditions(node, now)
	if apiequality.Semantic.DeepEqual(conditions, node.Status.Conditions) {
		return nil
	}
	wasReady := readiness(node) == corev1.ConditionTrue
	*node = *node.DeepCopy() // it is the cache's
	node.Status.Conditions = conditions
	if err := r.client.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("update status of silent node %s: %w", node.Name, err)
	}
	if wasReady {
		r.report(node.Name, node.UID, "NodeNotReady", "Node %s status is now: %s", node.Name, "NodeNotReady")
		known.podsPending = true
		r.remember(node.Name, *known)
	}
	return nil
}

// lease reads a node's lease; nil when there is none.
func (r *reconciler) lease(ctx context.Context, reader client.Reader, node string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := reader.Get(ctx, types.NamespacedName{Namespace: corev1.NamespaceNodeLease, Name: node}, lease, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get lease of node %s: %w", node, err)
	}
	return lease, nil
}

// markPods tells Services that the pods of a silent node can't be counted on.
func (r *reconciler) markPods(ctx context.Context, node *corev1.Node, known *memory) error {
	if !known.podsPending {
		return nil
	}
	if readiness(node) != corev1.ConditionTrue {
		var pods corev1.PodList
		if err := r.client.List(ctx, &pods, client.MatchingFields{component.PodNodeIndex: node.Name}); err != nil {
			return fmt.Errorf("list pods of node %s: %w", node.Name, err)
		}
		for i := range pods.Items {
			if err := r.markPod(ctx, &pods.Items[i]); err != nil {
				return err
			}
		}
	}
	known.podsPending = false
	r.remember(node.Name, *known)
	return nil
}

func (r *reconciler) markPod(ctx context.Context, pod *corev1.Pod) error {
	ready := podstate.Condition(pod, corev1.PodReady)
	if ready == nil || ready.Status == corev1.ConditionFalse {
		return nil
	}
	ready.Status = corev1.ConditionFalse
	ready.LastTransitionTime = metav1.NewTime(r.clock.Now())
	if err := r.client.Status().Update(ctx, pod); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark pod %s/%s as not ready: %w", pod.Namespace, pod.Name, err)
	}
	r.events.Event(pod, corev1.EventTypeWarning, "NodeNotReady", "Node is not ready")
	return nil
}

// taint brings the node's taints in line with its conditions.
func (r *reconciler) taint(ctx context.Context, node *corev1.Node) error {
	zone := topology.GetZoneKey(node)
	failing := readiness(node) != corev1.ConditionTrue
	if _, excluded := node.Labels[excludeLabel]; excluded {
		r.zones.forget(node.Name)
	} else {
		r.zones.record(node.Name, zone, failing)
	}
	evict := failing && !evicting(node) && evictionTaint(readiness(node)) != "" && r.zones.mayEvict(zone)
	taints := Taints(node, evict, r.clock.Now())
	if failing && r.zones.allFail() {
		taints = withoutEviction(taints)
	}
	if apiequality.Semantic.DeepEqual(taints, node.Spec.Taints) {
		return nil
	}
	tainted := node.DeepCopy()
	tainted.Spec.Taints = taints
	patch := client.MergeFromWithOptions(node, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, tainted, patch); err != nil {
		return fmt.Errorf("taint node %s: %w", node.Name, err)
	}
	return nil
}
