package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Observed is everything that a decision about one Job rests on.
type Observed struct {
	Job *batchv1.Job
	// Pods are all that the Job owns, ended ones included.
	Pods []*corev1.Pod
	// Backoff is that of the pods that ended before this pass.
	Backoff Backoff
	Now     time.Time
}

func indexed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

func suspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }

// onlyFailedAreReplaced says that a pod being deleted holds its place until it is gone.
func onlyFailedAreReplaced(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.Failed
}

// foreign says that another controller looks after the Job.
func foreign(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName) != batchv1.JobControllerName
}

// condition gives the Job's condition of that type if it is true, or nil.
func condition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// Finished says that nothing will ever happen to the Job again.
func Finished(job *batchv1.Job) bool {
	return condition(job, batchv1.JobComplete) != nil || condition(job, batchv1.JobFailed) != nil
}

// tracked says that the pod's end hasn't been counted for good.
func tracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// failed says that the pod counts as a failure. One that is being deleted does at once,
// unless the Job waits to see how it ends.
func failed(job *batchv1.Job, pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return !onlyFailedAreReplaced(job) && pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded
}

// placed says that the pod has a place in the Job: always, but for an Indexed Job only
// with an index that the Job has.
func placed(job *batchv1.Job, pod *corev1.Pod) bool {
	if !indexed(job) {
		return true
	}
	index := indexOf(pod)
	return index != NoIndex && index < int(*job.Spec.Completions)
}

func (o *Observed) active() []*corev1.Pod { return filter(o.Pods, podstate.Active) }

func (o *Observed) terminating() []*corev1.Pod { return filter(o.Pods, podstate.Terminating) }

// ended gives the pods that ended and aren't in the status yet.
func (o *Observed) ended() (succeeded, fallen []*corev1.Pod) {
	uncounted := ptr.Deref(o.Job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	fresh := func(known []types.UID, is func(*corev1.Pod) bool) []*corev1.Pod {
		return filter(o.Pods, func(pod *corev1.Pod) bool {
			return tracked(pod) && placed(o.Job, pod) && is(pod) && !slices.Contains(known, pod.UID)
		})
	}
	succeeded = fresh(uncounted.Succeeded, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
	fallen = fresh(uncounted.Failed, func(pod *corev1.Pod) bool { return failed(o.Job, pod) })
	return succeeded, fallen
}

func filter(pods []*corev1.Pod, keep func(*corev1.Pod) bool) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, pod := range pods {
		if keep(pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}

func count(pods []*corev1.Pod, is func(*corev1.Pod) bool) int32 { return int32(len(filter(pods, is))) }
