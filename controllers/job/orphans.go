package job

import (
	"context"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

// orphans lets those pods go that no Job counts any more: theirs has finished, or is gone,
// or gave them up.
type orphans struct{ client client.Client }

func addOrphans(env component.Environment) error {
	o := &orphans{client: env.Manager.GetClient()}
	held := predicate.NewPredicateFuncs(func(object client.Object) bool {
		pod, ok := object.(*corev1.Pod)
		return ok && tracked(pod)
	})
	ofEnded := handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if job, ok := e.ObjectNew.(*batchv1.Job); ok && Finished(job) {
				o.enqueue(ctx, job, queue)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			o.enqueue(ctx, e.Object, queue)
		},
	}
	const orphansName = name + "-orphans"
	err := env.Controller(orphansName, 2).
		Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(held)).
		Watches(&batchv1.Job{}, ofEnded).
		Complete(component.Quietly(o))
	if err != nil {
		return fmt.Errorf("add %s: %w", orphansName, err)
	}
	return nil
}

// enqueue has all pods of an ended Job looked at.
func (o *orphans) enqueue(ctx context.Context, job client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var pods corev1.PodList
	err := o.client.List(ctx, &pods, client.InNamespace(job.GetNamespace()),
		client.MatchingFields{component.PodOwnerIndex: string(job.GetUID())}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return // the cache is closing; there is nobody left to wake
	}
	for i := range pods.Items {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
	}
}

// Reconcile lets one pod go if it is an orphan.
func (o *orphans) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := o.client.Get(ctx, request.NamespacedName, pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !tracked(pod) {
		return reconcile.Result{}, nil
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	var job *batchv1.Job
	if owner != nil && owner.Kind == jobKind.Kind {
		found := &batchv1.Job{}
		err := o.client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, found)
		if client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("look for the job of pod %s: %w", pod.Name, err)
		}
		if err == nil {
			job = found
		}
	}
	if !orphaned(owner, job) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, release(ctx, o.client, pod)
}

// orphaned says that no Job counts a pod with that controller; job is the one that now
// goes by the controller's name, or nil.
func orphaned(owner *metav1.OwnerReference, job *batchv1.Job) bool {
	switch {
	case owner == nil:
		return true
	case owner.Kind != jobKind.Kind || owner.APIVersion != batchv1.SchemeGroupVersion.String():
		return false
	case job == nil || job.UID != owner.UID:
		return true
	}
	return !foreign(job) && Finished(job)
}

// release takes the finalizer off a pod; one that is gone already is released.
func release(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	if !tracked(pod) {
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		return fmt.Errorf("encode the patch: %w", err)
	}
	if err := c.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, body)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release pod %s: %w", pod.Name, err)
	}
	return nil
}
