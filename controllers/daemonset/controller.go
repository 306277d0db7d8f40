package daemonset

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

const name = "daemonset-controller"

// A pod that failed is replaced after firstReplacement, then ever later up to
// lastReplacement. Upstream's bounds.
const (
	firstReplacement = time.Second
	lastReplacement  = 15 * time.Minute
)

var daemonSetKind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

// Component is the DaemonSet controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"apps/daemonsets", "apps/controllerrevisions", "pods", "nodes"},
	Writes: []string{
		"apps/daemonsets:status", "apps/controllerrevisions:* of daemonsets", "pods:create for daemonsets",
		"pods:delete for daemonsets", "pods:ownerReferences for daemonsets", "pods:label controller-revision-hash for daemonsets",
	},
	Add: add,
}

func add(env component.Environment) error {
	events := env.Events(name)
	replacements := flowcontrol.NewBackOff(firstReplacement, lastReplacement)
	replacements.Clock = env.Clock
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), events: events, clock: env.Clock,
		control: podcontrol.Control{Client: env.Manager.GetClient(), Events: events}, replacements: replacements,
	}
	owners := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		return component.Owning(ctx, r.client, object, daemonSetKind.Kind, &appsv1.DaemonSetList{})
	})
	err := env.Controller(name, 2).
		For(&appsv1.DaemonSet{}).
		Watches(&corev1.Pod{}, owners).
		Watches(&appsv1.ControllerRevision{}, owners, builder.WithPredicates(revisionChanged)).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(nodeChanged)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// nodeChanged lets pass what may change which pods fit a node. A heartbeat doesn't.
var nodeChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*corev1.Node)
	after, isNode := e.ObjectNew.(*corev1.Node)
	return !ok || !isNode || !apiequality.Semantic.DeepEqual(before.Labels, after.Labels) ||
		!apiequality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints)
}}

// revisionChanged lets pass what a DaemonSet has to do something about. A revision that is made with an owner isn't, as upstream has it: one
// that somebody made beside ours, of the same template, is taken for ours only when the set is looked at for another reason.
var revisionChanged = predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool { return metav1.GetControllerOf(e.Object) == nil }}

type reconciler struct {
	client       client.Client
	live         client.Reader
	events       record.EventRecorder
	control      podcontrol.Control
	clock        clock.PassiveClock
	replacements *flowcontrol.Backoff
}

func (r *reconciler) all(ctx context.Context, _ client.Object) (requests []reconcile.Request) {
	var sets appsv1.DaemonSetList
	if err := r.client.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range sets.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
	}
	return requests
}

// Reconcile makes one pass over one DaemonSet.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.replacements.GC()
	ds := &appsv1.DaemonSet{}
	if err := r.client.Get(ctx, request.NamespacedName, ds); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if apiequality.Semantic.DeepEqual(ds.Spec.Selector, &metav1.LabelSelector{}) {
		r.events.Event(ds, corev1.EventTypeWarning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return reconcile.Result{}, nil
	}
	if ds.DeletionTimestamp != nil {
		return reconcile.Result{}, nil // its history may be gone already, so nothing is sure any more
	}
	observed, old, err := r.observe(ctx, ds)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	failure := r.apply(ctx, observed, plan)
	for _, one := range expired(ds, old, observed.Pods) {
		if err := r.client.Delete(ctx, one); client.IgnoreNotFound(err) != nil {
			failure = errors.Join(failure, fmt.Errorf("delete revision %s: %w", one.Name, err))
		}
	}
	if err := r.writeStatus(ctx, ds, Status(observed)); err != nil {
		return reconcile.Result{}, errors.Join(failure, err)
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, failure
}

// observe reads everything afresh, adopting and releasing on the way.
func (r *reconciler) observe(ctx context.Context, ds *appsv1.DaemonSet) (observed Observed, old []*appsv1.ControllerRevision, err error) {
	observed = Observed{Set: ds, Now: r.clock.Now(), HeldBack: map[string]time.Duration{}}
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return observed, nil, reconcile.TerminalError(fmt.Errorf("selector of %s/%s: %w", ds.Namespace, ds.Name, err))
	}
	claimer := ownership.Claimer{Client: r.client, Live: r.live, Owner: ds, Kind: daemonSetKind, Selector: selector}
	candidates, err := r.control.Candidates(ctx, ds)
	if err != nil {
		return observed, nil, err
	}
	if observed.Pods, err = ownership.Claim(ctx, claimer, candidates); err != nil {
		return observed, nil, err
	}
	current, old, err := r.history(ctx, claimer, ds, observed.Pods)
	if err != nil {
		return observed, nil, err
	}
	observed.Hash = current.Labels[hashLabel]
	var nodes corev1.NodeList
	if err := r.client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return observed, nil, fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		observed.Nodes = append(observed.Nodes, node)
		if key := replacementKey(ds, node.Name); r.replacements.IsInBackOffSinceUpdate(key, observed.Now) {
			observed.HeldBack[node.Name] = r.replacements.Get(key)
		}
	}
	return observed, old, nil
}

// replacementKey forgets what failed when the DaemonSet changes.
func replacementKey(ds *appsv1.DaemonSet, node string) string {
	return fmt.Sprintf("%s/%d/%s", ds.UID, ds.Status.ObservedGeneration, node)
}

// apply makes and deletes pods as planned and gives the first error of each.
func (r *reconciler) apply(ctx context.Context, observed Observed, plan Plan) error {
	for _, report := range plan.Reports {
		r.events.Event(observed.Set, report.Type, report.Reason, report.Message)
	}
	for _, node := range plan.Failed {
		r.replacements.Next(replacementKey(observed.Set, node), observed.Now)
	}
	created := podcontrol.SlowStart(len(plan.Create), func(i int) error {
		return r.control.Create(ctx, observed.Set, newPod(observed.Set, observed.Hash, plan.Create[i]))
	})
	deleted := podcontrol.Together(len(plan.Delete), func(i int) error {
		return r.control.Delete(ctx, observed.Set, plan.Delete[i])
	})
	return errors.Join(created, deleted)
}

func (r *reconciler) writeStatus(ctx context.Context, ds *appsv1.DaemonSet, status appsv1.DaemonSetStatus) error {
	if apiequality.Semantic.DeepEqual(ds.Status, status) {
		return nil
	}
	next := ds.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
