package podautoscaler

import (
	"context"
	"fmt"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "horizontal-pod-autoscaler-controller"
	// source is what its events name as their source.
	source = "horizontal-pod-autoscaler"
	// period is the time between two looks at the metrics, upstream's default.
	period = 15 * time.Second
)

// Component scales workloads by metrics.
var Component = component.Component{
	Name:    name,
	Watches: []string{"autoscaling/horizontalpodautoscalers", "pods"},
	Writes:  []string{"autoscaling/horizontalpodautoscalers:status", "*:scale"},
	Add:     add,
}

func add(env component.Environment) error {
	metrics, err := newReader(env.Manager.GetConfig(), env.Manager.GetHTTPClient(), env.Manager.GetRESTMapper())
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	scales, err := env.Scales()
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	r := &reconciler{
		client: env.Manager.GetClient(), scales: scales, metrics: metrics, events: env.Events(source), clock: env.Clock,
		known: map[types.NamespacedName]known{},
	}
	err = env.Controller(name, 5).
		For(&autoscalingv2.HorizontalPodAutoscaler{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client  client.Client
	scales  scale.ScalesGetter
	metrics *reader
	events  record.EventRecorder
	clock   clock.PassiveClock

	mu    sync.Mutex
	known map[types.NamespacedName]known
}

// known is what is kept of an autoscaler between two passes.
type known struct {
	history  History
	selector labels.Selector
}

// Reconcile makes one pass over one autoscaler, and the next one after the period.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := r.client.Get(ctx, request.NamespacedName, hpa); err != nil {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	next := reconcile.Result{RequeueAfter: period}
	target, scale, err := r.scaleOf(ctx, hpa)
	if err != nil {
		r.events.Event(hpa, corev1.EventTypeWarning, "FailedGetScale", err.Error())
		return next, r.writeStatus(ctx, hpa, Unscalable(hpa, err, r.clock.Now()))
	}
	observed, err := r.observe(ctx, hpa, scale)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	if plan.Rescale {
		plan.Rescaled(observed, r.rescale(ctx, target, scale, plan.Desired))
	}
	for _, report := range plan.Reports {
		r.events.Event(hpa, report.Type, report.Reason, report.Message)
	}
	r.remember(request.NamespacedName, plan.History)
	return next, r.writeStatus(ctx, hpa, plan.Status)
}

// observe reads what a decision rests on; metrics only if they matter.
func (r *reconciler) observe(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, scale *autoscalingv1.Scale) (Observed, error) {
	key := client.ObjectKeyFromObject(hpa)
	r.mu.Lock()
	o := Observed{Autoscaler: hpa, Current: scale.Spec.Replicas, Running: scale.Status.Replicas, History: r.known[key].history, Now: r.clock.Now()}
	r.mu.Unlock()
	if !NeedsMetrics(hpa, o.Current) {
		return o, nil
	}
	if scale.Status.Selector == "" {
		const text = "selector is required"
		o.Unusable = &Unusable{"SelectorRequired", "InvalidSelector", "the HPA target's scale is missing a selector", text}
		return o, nil
	}
	selector, err := labels.Parse(scale.Status.Selector)
	if err != nil {
		text := fmt.Sprintf("couldn't convert selector into a corresponding internal selector object: %v", err)
		o.Unusable = &Unusable{"InvalidSelector", "InvalidSelector", text, text}
		return o, nil
	}
	var pods corev1.PodList
	err = r.client.List(ctx, &pods, client.InNamespace(hpa.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return o, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		o.Pods = append(o.Pods, &pods.Items[i])
	}
	if rivals := r.rivals(key, selector, o.Pods); len(rivals) > 1 {
		text := fmt.Sprintf("pods by selector %v are controlled by more than one HPA (e.g. %v)", scale.Status.Selector, rivals)
		o.Unusable = &Unusable{"AmbiguousSelector", "AmbiguousSelector", text, text}
		return o, nil
	}
	for i := range hpa.Spec.Metrics {
		o.Readings = append(o.Readings, r.metrics.read(ctx, hpa.Namespace, selector, &hpa.Spec.Metrics[i]))
	}
	return o, nil
}

// rival names an autoscaler as upstream's message shows it.
type rival struct{ Name, Namespace string }

// rivals gives autoscalers that scale by these pods, the given one among them.
func (r *reconciler) rivals(key types.NamespacedName, selector labels.Selector, pods []*corev1.Pod) (rivals []rival) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[key] = known{r.known[key].history, selector}
	for other, k := range r.known {
		if other.Namespace != key.Namespace || k.selector == nil {
			continue
		}
		for _, pod := range pods {
			if k.selector.Matches(labels.Set(pod.Labels)) {
				rivals = append(rivals, rival{other.Name, other.Namespace})
				break
			}
		}
	}
	return rivals
}

func (r *reconciler) remember(key types.NamespacedName, history History) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[key] = known{history, r.known[key].selector}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, key)
}

func (r *reconciler) writeStatus(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, status autoscalingv2.HorizontalPodAutoscalerStatus) error {
	if apiequality.Semantic.DeepEqual(hpa.Status, status) {
		return nil
	}
	next := hpa.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		r.events.Event(hpa, corev1.EventTypeWarning, "FailedUpdateStatus", err.Error())
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
