package disruption

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// staleTimeout is how long a pod may be marked for disruption without being deleted.
// Upstream's bound.
const staleTimeout = 2 * time.Minute

// staleAfter says how long it takes until a pod's mark DisruptionTarget is stale. Marked is
// false for a pod that isn't, is on its way out, has ended, or was marked by its kubelet,
// which may take its time.
func staleAfter(pod *corev1.Pod, now time.Time) (wait time.Duration, marked bool) {
	mark := podstate.Condition(pod, corev1.DisruptionTarget)
	if mark == nil || mark.Status != corev1.ConditionTrue || mark.Reason == corev1.PodReasonTerminationByKubelet ||
		pod.DeletionTimestamp != nil || podstate.Finished(pod) {
		return 0, false
	}
	return max(0, mark.LastTransitionTime.Add(staleTimeout).Sub(now)), true
}

// unmark gives a copy of a pod whose mark says that nobody deletes it after all.
func unmark(pod *corev1.Pod, now time.Time) *corev1.Pod {
	next := pod.DeepCopy()
	mark := podstate.Condition(next, corev1.DisruptionTarget)
	*mark = corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse,
		ObservedGeneration: mark.ObservedGeneration, LastTransitionTime: metav1.NewTime(now),
	}
	if mark.ObservedGeneration != 0 {
		mark.ObservedGeneration = next.Generation
	}
	return next
}

// unmarker takes stale marks off pods.
type unmarker struct {
	client client.Client
	clock  clock.PassiveClock
}

func addUnmarker(env component.Environment) error {
	u := &unmarker{client: env.Manager.GetClient(), clock: env.Clock}
	marked := predicate.NewPredicateFuncs(func(object client.Object) bool {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return false
		}
		_, marked := staleAfter(pod, env.Clock.Now())
		return marked
	})
	const unmarkerName = name + "-stale"
	if err := env.Controller(unmarkerName, 1).For(&corev1.Pod{}, builder.WithPredicates(marked)).Complete(component.Quietly(u)); err != nil {
		return fmt.Errorf("add %s: %w", unmarkerName, err)
	}
	return nil
}

// Reconcile looks at one marked pod.
func (u *unmarker) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := u.client.Get(ctx, request.NamespacedName, pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	wait, marked := staleAfter(pod, u.clock.Now())
	if !marked || wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	if err := u.client.Status().Update(ctx, unmark(pod, u.clock.Now())); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("unmark pod: %w", err)
	}
	return reconcile.Result{}, nil
}
