package replicaset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

// Shell fetches and applies for a kind whose objects want so many pods of a template, as a ReplicaSet does.
type Shell[T client.Object] struct {
	// Name is the controller's, Source what its events name as their source.
	Name, Source string
	Kind         schema.GroupVersionKind
	New          func() T
	List         func() client.ObjectList
	// Set is the ReplicaSet that wants the same as an object, and has the same status.
	Set func(T) *appsv1.ReplicaSet
	// SetStatus gives an object a ReplicaSet's status.
	SetStatus func(T, appsv1.ReplicaSetStatus)
	// Related lists the pods beside which those of a set are ranked for deletion; nil: its own.
	Related func(context.Context, podcontrol.Control, *appsv1.ReplicaSet) ([]*corev1.Pod, error)

	client  client.Client
	live    client.Reader
	control podcontrol.Control
	clock   clock.PassiveClock
}

// Add registers the kind's loop.
func (s Shell[T]) Add(env component.Environment) error {
	s.client, s.live, s.clock = env.Manager.GetClient(), env.Manager.GetAPIReader(), env.Clock
	s.control = podcontrol.Control{Client: s.client, Events: env.Events(s.Source)}
	err := env.Controller(s.Name, 5).
		For(s.New()).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(s.owners)).
		Complete(component.Quietly(&s))
	if err != nil {
		return fmt.Errorf("add %s: %w", s.Name, err)
	}
	return nil
}

// owners maps a pod to the object that owns it or, for an orphan, to all that might adopt it.
func (s *Shell[T]) owners(ctx context.Context, pod client.Object) []reconcile.Request {
	return component.Owning(ctx, s.client, pod, s.Kind.Kind, s.List())
}

// Reconcile makes one pass over one object.
func (s *Shell[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := s.New()
	if err := s.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	set := s.Set(object)
	observed, err := s.observe(ctx, object, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	failure := s.apply(ctx, object, &set.Spec.Template, plan)
	if err := s.writeStatus(ctx, object, Status(observed, plan, failure)); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, failure
}

// observe reads everything afresh, adopting and releasing pods on the way.
func (s *Shell[T]) observe(ctx context.Context, object T, set *appsv1.ReplicaSet) (Observed, error) {
	observed := Observed{ReplicaSet: set, Now: s.clock.Now()}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return observed, reconcile.TerminalError(fmt.Errorf("selector of %s/%s: %w", set.Namespace, set.Name, err))
	}
	pods, err := s.control.Candidates(ctx, object)
	if err != nil {
		return observed, err
	}
	active, terminating := Sort(set, selector, pods)
	observed.Terminating = terminating
	observed.Active, err = ownership.Claim(ctx, ownership.Claimer{
		Client: s.client, Live: s.live, Owner: object, Kind: s.Kind, Selector: selector,
	}, active)
	if err != nil {
		return observed, err
	}
	observed.Related = observed.Active
	if s.Related != nil && len(observed.Active) > int(*set.Spec.Replicas) {
		observed.Related, err = s.Related(ctx, s.control, set)
	}
	return observed, err
}

// apply makes or deletes pods as planned and gives the first error.
func (s *Shell[T]) apply(ctx context.Context, object T, template *corev1.PodTemplateSpec, plan Plan) error {
	if plan.Create > 0 {
		return podcontrol.SlowStart(plan.Create, func(int) error {
			return s.control.Create(ctx, object, podcontrol.NewPod(template, object, s.Kind))
		})
	}
	return podcontrol.Together(len(plan.Delete), func(i int) error { return s.control.Delete(ctx, object, plan.Delete[i]) })
}

func (s *Shell[T]) writeStatus(ctx context.Context, object T, status appsv1.ReplicaSetStatus) error {
	next := object.DeepCopyObject().(T)
	s.SetStatus(next, status)
	if apiequality.Semantic.DeepEqual(object, next) {
		return nil
	}
	if err := s.client.Status().Update(ctx, next); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
