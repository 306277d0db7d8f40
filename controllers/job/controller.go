package job

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

const name = "job-controller"

// Component is the Job controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"batch/jobs", "pods"},
	Writes: []string{
		"batch/jobs:status", "pods:create for jobs", "pods:delete for jobs",
		"pods:ownerReferences for jobs", "pods:finalizer batch.kubernetes.io/job-tracking",
	},
	Add: add,
}

func add(env component.Environment) error {
	events := env.Events(name)
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), events: events, clock: env.Clock,
		control:  podcontrol.Control{Client: env.Manager.GetClient(), Events: events},
		backoffs: map[types.UID]Backoff{}, uids: map[types.NamespacedName]types.UID{},
	}
	err := env.Controller(name, 5).
		For(&batchv1.Job{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.jobsOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return addOrphans(env)
}

type reconciler struct {
	client  client.Client
	live    client.Reader
	events  record.EventRecorder
	control podcontrol.Control
	clock   clock.PassiveClock

	mu       sync.Mutex
	backoffs map[types.UID]Backoff
	uids     map[types.NamespacedName]types.UID
}

// jobsOf maps a pod to the Job that owns it or, for an orphan, to all that might adopt it.
func (r *reconciler) jobsOf(ctx context.Context, pod client.Object) []reconcile.Request {
	return component.Owning(ctx, r.client, pod, jobKind.Kind, &batchv1.JobList{})
}

// Reconcile makes one pass over one Job.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	job := &batchv1.Job{}
	err := r.client.Get(ctx, request.NamespacedName, job)
	if err != nil || foreign(job) || Finished(job) {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if mode := job.Spec.CompletionMode; mode != nil && *mode != batchv1.NonIndexedCompletion && *mode != batchv1.IndexedCompletion {
		r.events.Event(job, corev1.EventTypeWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		return reconcile.Result{}, nil
	}
	observed, err := r.observe(ctx, job)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	outcome, failure := r.apply(ctx, job, plan)
	settlement := Settle(observed, plan, outcome)
	r.report(job, settlement.Reports)
	if err := r.settle(ctx, job, &settlement); err != nil {
		return reconcile.Result{}, err
	}
	r.remember(job, plan.Backoff)
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, failure
}

// observe reads everything afresh, adopting and releasing pods on the way.
func (r *reconciler) observe(ctx context.Context, job *batchv1.Job) (Observed, error) {
	observed := Observed{Job: job, Now: r.clock.Now(), Backoff: r.backoff(job)}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return observed, reconcile.TerminalError(fmt.Errorf("couldn't convert Job selector: %w", err))
	}
	pods, err := r.control.Candidates(ctx, job)
	if err != nil {
		return observed, err
	}
	observed.Pods, err = ownership.Claim(ctx, ownership.Claimer{
		Client: r.client, Live: r.live, Owner: job, Kind: jobKind, Selector: selector,
		Finalizers: []string{batchv1.JobTrackingFinalizer},
	}, pods)
	return observed, err
}

// apply makes or deletes pods as planned, and gives the first error.
func (r *reconciler) apply(ctx context.Context, job *batchv1.Job, plan Plan) (Outcome, error) {
	var created, deleted, deletedReady atomic.Int32
	failure := podcontrol.SlowStart(len(plan.Create), func(i int) error {
		index := plan.Create[i]
		if err := r.control.Create(ctx, job, NewPod(job, index, plan.replaced[index])); err != nil {
			return err
		}
		created.Add(1)
		return nil
	})
	if len(plan.Delete) > 0 {
		failure = podcontrol.Together(len(plan.Delete), func(i int) error {
			if err := r.remove(ctx, job, plan.Delete[i], plan.Uncounted); err != nil {
				return err
			}
			deleted.Add(1)
			if podstate.Ready(plan.Delete[i]) {
				deletedReady.Add(1)
			}
			return nil
		})
	}
	return Outcome{Created: created.Load(), Deleted: deleted.Load(), DeletedReady: deletedReady.Load()}, failure
}

func (r *reconciler) remove(ctx context.Context, job *batchv1.Job, pod *corev1.Pod, uncounted bool) error {
	if uncounted {
		if err := release(ctx, r.client, pod); err != nil {
			return fmt.Errorf("removing completion finalizer: %w", err)
		}
	}
	return r.control.Delete(ctx, job, pod)
}

// settle writes the status, lets pods go, and writes the status once more as they count.
func (r *reconciler) settle(ctx context.Context, job *batchv1.Job, s *Settlement) error {
	current, err := r.writeStatus(ctx, job, s)
	if err != nil {
		return err
	}
	released := make([]bool, len(s.Release))
	failure := podcontrol.Together(len(s.Release), func(i int) error {
		err := release(ctx, r.client, s.Release[i])
		released[i] = err == nil
		return err
	})
	gone := map[types.UID]bool{}
	for i, pod := range s.Release {
		gone[pod.UID] = released[i]
	}
	s.Count(func(uid types.UID) bool { return !gone[uid] })
	var ended []Report
	if failure == nil {
		ended = s.Finish(job)
	}
	if _, err := r.writeStatus(ctx, current, s); err != nil {
		return err
	}
	r.report(job, ended)
	return failure
}

// writeStatus gives the Job as it is afterwards.
func (r *reconciler) writeStatus(ctx context.Context, job *batchv1.Job, s *Settlement) (*batchv1.Job, error) {
	if apiequality.Semantic.DeepEqual(job.Status, s.Status) {
		return job, nil
	}
	next := job.DeepCopy()
	next.Status = *s.Status.DeepCopy()
	if err := r.client.Status().Update(ctx, next); err != nil {
		return nil, fmt.Errorf("update status: %w", err)
	}
	return next, nil
}

func (r *reconciler) report(job *batchv1.Job, reports []Report) {
	for _, report := range reports {
		r.events.Event(job, report.Type, report.Reason, report.Message)
	}
}

func (r *reconciler) backoff(job *batchv1.Job) Backoff {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.backoffs[job.UID]
}

func (r *reconciler) remember(job *batchv1.Job, backoff Backoff) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := client.ObjectKeyFromObject(job)
	if before := r.uids[key]; before != job.UID {
		delete(r.backoffs, before)
	}
	r.uids[key], r.backoffs[job.UID] = job.UID, backoff
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.backoffs, r.uids[key])
	delete(r.uids, key)
}
