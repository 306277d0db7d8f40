package cronjob

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "cronjob-controller"

// Component is the CronJob controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"batch/cronjobs", "batch/jobs"},
	Writes:  []string{"batch/cronjobs:status", "batch/jobs:create for cronjobs", "batch/jobs:delete for cronjobs"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{
		client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(),
		events: env.Events(name), clock: env.Clock,
	}
	owner := func(_ context.Context, job client.Object) []reconcile.Request {
		controller := metav1.GetControllerOfNoCopy(job)
		if controller == nil || controller.Kind != cronJobKind.Kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: job.GetNamespace(), Name: controller.Name}}}
	}
	err := env.Controller(name, 5).
		Watches(&batchv1.CronJob{}, r.handler()).
		Watches(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(owner)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	live   client.Reader
	events record.EventRecorder
	clock  clock.PassiveClock
}

// handler wakes a CronJob whenever it changes. A new schedule alone waits for its next
// time: what it would have done in the past is not made up for.
func (r *reconciler) handler() handler.EventHandler {
	now := func(object client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			now(e.Object, queue)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			before, ok := e.ObjectOld.(*batchv1.CronJob)
			after, ok2 := e.ObjectNew.(*batchv1.CronJob)
			if !ok || !ok2 || before.Spec.Schedule == after.Spec.Schedule && ptr.Equal(before.Spec.TimeZone, after.Spec.TimeZone) {
				now(e.ObjectNew, queue)
				return
			}
			schedule, err := parse(after)
			if err != nil {
				r.events.Eventf(after, corev1.EventTypeWarning, "UnParseableCronJobSchedule", "unparseable schedule for cronjob: %s", after.Spec.Schedule)
				return
			}
			request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(after)}
			queue.AddAfter(request, untilNext(after, schedule, r.clock.Now()))
		},
	}
}

// Reconcile makes one pass over one CronJob.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	c := &batchv1.CronJob{}
	if err := r.client.Get(ctx, request.NamespacedName, c); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, err := r.observe(ctx, c)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(observed)
	for _, report := range plan.Reports {
		r.events.Event(c, report.Type, report.Reason, report.Message)
	}
	failure := r.apply(ctx, c, &plan)
	if err := r.writeStatus(ctx, c, plan.Status); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: plan.CheckAfter}, failure
}

// observe reads the CronJob's Jobs. That an active one is gone is asked of the API server
// itself, since the cache may not have heard of it yet.
func (r *reconciler) observe(ctx context.Context, c *batchv1.CronJob) (Observed, error) {
	observed := Observed{CronJob: c, Missing: map[types.UID]bool{}, Now: r.clock.Now()}
	var list batchv1.JobList
	if err := r.client.List(ctx, &list, client.InNamespace(c.Namespace)); err != nil {
		return observed, fmt.Errorf("list jobs: %w", err)
	}
	known := map[types.UID]bool{}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], c) {
			known[list.Items[i].UID] = true
			observed.Jobs = append(observed.Jobs, &list.Items[i])
		}
	}
	for _, job := range c.Status.Active {
		if known[job.UID] {
			continue
		}
		err := r.live.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: job.Name}, &batchv1.Job{})
		if client.IgnoreNotFound(err) != nil {
			return observed, fmt.Errorf("look for job %s: %w", job.Name, err)
		}
		observed.Missing[job.UID] = err != nil
	}
	return observed, nil
}

// apply deletes and makes Jobs, and notes in the planned status what came of it.
func (r *reconciler) apply(ctx context.Context, c *batchv1.CronJob, plan *Plan) error {
	for _, job := range plan.Expired {
		// An old Job that can't be deleted keeps no new one from starting.
		_ = r.delete(ctx, c, job)
	}
	if plan.Start.IsZero() {
		return nil
	}
	for _, active := range plan.Replace {
		job := &batchv1.Job{}
		if err := r.client.Get(ctx, types.NamespacedName{Namespace: active.Namespace, Name: active.Name}, job); err != nil {
			r.events.Eventf(c, corev1.EventTypeWarning, "FailedGet", "Get job: %v", err)
			return fmt.Errorf("get the job to replace: %w", err)
		}
		if err := r.delete(ctx, c, job); err != nil {
			return fmt.Errorf("could not replace job %s/%s: %w", job.Namespace, job.Name, err)
		}
		plan.drop(job.UID)
	}
	job, err := r.start(ctx, c, plan)
	if err != nil || job == nil {
		return err
	}
	plan.Status.Active = append(plan.Status.Active, corev1.ObjectReference{
		Kind: "Job", APIVersion: batchv1.SchemeGroupVersion.String(), Namespace: job.Namespace, Name: job.Name,
		UID: job.UID, ResourceVersion: job.ResourceVersion,
	})
	plan.Status.LastScheduleTime = &metav1.Time{Time: plan.Start}
	return nil
}

// start makes the planned Job, or finds that it was made in an earlier pass; nil: it is
// somebody else's, or known already.
func (r *reconciler) start(ctx context.Context, c *batchv1.CronJob, plan *Plan) (*batchv1.Job, error) {
	job, err := NewJob(c, plan.Start)
	if err != nil {
		return nil, err
	}
	switch err := r.client.Create(ctx, job); {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil, err
	case apierrors.IsAlreadyExists(err):
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return nil, fmt.Errorf("get the job that exists already: %w", err)
		}
		if !metav1.IsControlledBy(job, c) || plan.active(job.UID) {
			return nil, nil
		}
		return job, nil
	case err != nil:
		r.events.Eventf(c, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
		return nil, fmt.Errorf("create job: %w", err)
	}
	r.events.Eventf(c, corev1.EventTypeNormal, "SuccessfulCreate", "Created job %v", job.Name)
	return job, nil
}

func (r *reconciler) delete(ctx context.Context, c *batchv1.CronJob, job *batchv1.Job) error {
	err := r.client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil {
		r.events.Eventf(c, corev1.EventTypeWarning, "FailedDelete", "Deleted job: %v", err)
		return fmt.Errorf("delete job: %w", err)
	}
	r.events.Eventf(c, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", job.Name)
	return nil
}

func (r *reconciler) writeStatus(ctx context.Context, c *batchv1.CronJob, status batchv1.CronJobStatus) error {
	if apiequality.Semantic.DeepEqual(c.Status, status) {
		return nil
	}
	next := c.DeepCopy()
	next.Status = status
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}
