package disruption

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "disruption-controller"

// source is what its events name as their source.
const source = "controllermanager"

// Component is the controller of PodDisruptionBudgets.
var Component = component.Component{
	Name:    name,
	Watches: []string{"policy/poddisruptionbudgets", "pods"},
	Writes:  []string{"policy/poddisruptionbudgets:status", "pods:condition DisruptionTarget when stale"},
	Add:     add,
}

func add(env component.Environment) error {
	scales, err := env.Scales()
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), scales: scales,
		events: env.Events(source), clock: env.Clock,
	}
	err = env.Controller(name, 1).
		For(&policyv1.PodDisruptionBudget{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.budgetsOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return addUnmarker(env)
}

type reconciler struct {
	client client.Client
	live   client.Reader
	scales scale.ScalesGetter
	events record.EventRecorder
	clock  clock.PassiveClock
}

// budgetsOf maps a pod to the budgets that select it. More than one is a mistake that the
// pod's owner should hear of: such a pod can't be evicted.
func (r *reconciler) budgetsOf(ctx context.Context, pod client.Object) (requests []reconcile.Request) {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.client.List(ctx, &budgets, client.InNamespace(pod.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range budgets.Items {
		selector, err := metav1.LabelSelectorAsSelector(budgets.Items[i].Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.GetLabels())) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&budgets.Items[i])})
		}
	}
	if len(requests) > 1 {
		r.events.Eventf(pod, corev1.EventTypeWarning, "MultiplePodDisruptionBudgets",
			"Pod %q/%q matches multiple PodDisruptionBudgets.  Chose %q arbitrarily.", pod.GetNamespace(), pod.GetName(), requests[0].Name)
	}
	return requests
}

// Reconcile makes one pass over one budget.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	budget := &policyv1.PodDisruptionBudget{}
	if err := r.client.Get(ctx, request.NamespacedName, budget); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	plan, err := r.decide(ctx, budget)
	for _, report := range plan.Reports {
		r.events.Event(budget, report.Type, report.Reason, report.Message)
	}
	for _, pod := range plan.NotDeleted {
		r.events.Eventf(pod, corev1.EventTypeWarning, "NotDeleted", "Pod was expected by PDB %s/%s to be deleted but it wasn't", budget.Namespace, budget.Namespace)
	}
	if err != nil {
		// Nothing may be evicted until a change of the budget or its pods tells more.
		plan.Status = Unknown(budget, err, r.clock.Now())
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, r.writeStatus(ctx, budget, plan.Status)
}

func (r *reconciler) decide(ctx context.Context, budget *policyv1.PodDisruptionBudget) (Plan, error) {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		return Plan{Reports: []Report{{corev1.EventTypeWarning, "NoPods", fmt.Sprintf("Failed to get pods: %v", err)}}}, err
	}
	var list corev1.PodList
	err = r.client.List(ctx, &list, client.InNamespace(budget.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return Plan{}, fmt.Errorf("list pods: %w", err)
	}
	observed := Observed{Budget: budget, Now: r.clock.Now()}
	for i := range list.Items {
		observed.Pods = append(observed.Pods, &list.Items[i])
	}
	if observed.Scales, err = r.scalesOf(ctx, observed.Pods); err != nil {
		return Plan{Reports: []Report{{corev1.EventTypeWarning, "CalculateExpectedPodCountFailed",
			fmt.Sprintf("Failed to calculate the number of expected pods: %v", err)}}}, err
	}
	return Decide(observed)
}

func (r *reconciler) writeStatus(ctx context.Context, budget *policyv1.PodDisruptionBudget, status policyv1.PodDisruptionBudgetStatus) error {
	if apiequality.Semantic.DeepEqual(budget.Status, status) {
		return nil
	}
	next := budget.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
