package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// verdict says whether the Job has come to its end, other than by its number of
// completions. What was said before stands; then failures are looked for, then successes.
func (p *Plan) verdict(o *Observed, failures int32) *batchv1.JobCondition {
	if met := condition(o.Job, batchv1.JobSuccessCriteriaMet); met != nil {
		return met
	}
	if target := condition(o.Job, batchv1.JobFailureTarget); target != nil {
		return newCondition(batchv1.JobFailed, target.Reason, target.Message, o.Now)
	}
	fail := func(reason, message string) *batchv1.JobCondition {
		return newCondition(batchv1.JobFailureTarget, reason, message, o.Now)
	}
	for _, pod := range o.Pods {
		if message := judge(o.Job.Spec.PodFailurePolicy, pod).message; message != "" && failed(o.Job, pod) {
			return fail(batchv1.JobReasonPodFailurePolicy, message)
		}
	}
	switch {
	case failures > *o.Job.Spec.BackoffLimit || restartedTooOften(o):
		return fail(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case o.Job.Spec.ActiveDeadlineSeconds != nil && !suspended(o.Job) && !o.Now.Before(deadline(o)):
		return fail(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	case p.given != nil && o.Job.Spec.MaxFailedIndexes != nil && p.given.Len() > int(*o.Job.Spec.MaxFailedIndexes):
		return fail(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case p.given != nil && p.given.Len() > 0 && p.given.Len()+p.done.Len() >= int(*o.Job.Spec.Completions):
		return fail(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
	if indexed(o.Job) {
		if message, met := meets(o.Job.Spec.SuccessPolicy, int(*o.Job.Spec.Completions), p.done); met {
			return newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, message, o.Now)
		}
	}
	return nil
}

// restartedTooOften says that the containers of pods which the kubelet restarts have used
// the limit up.
func restartedTooOften(o *Observed) bool {
	if o.Job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	restarts := int32(0)
	for _, pod := range o.Pods {
		if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
			continue
		}
		for i := range pod.Status.InitContainerStatuses {
			restarts += pod.Status.InitContainerStatuses[i].RestartCount
		}
		for i := range pod.Status.ContainerStatuses {
			restarts += pod.Status.ContainerStatuses[i].RestartCount
		}
	}
	return restarts >= max(1, *o.Job.Spec.BackoffLimit)
}

func newCondition(kind batchv1.JobConditionType, reason, message string, now time.Time) *batchv1.JobCondition {
	return &batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}
}

// setCondition adds a condition or brings it up to date, and says whether that changed
// anything. One that isn't there isn't added to say that it doesn't hold.
func setCondition(status *batchv1.JobStatus, next batchv1.JobCondition) (changed bool) {
	for i := range status.Conditions {
		c := &status.Conditions[i]
		if c.Type != next.Type {
			continue
		}
		if c.Status == next.Status && c.Reason == next.Reason && c.Message == next.Message {
			return false
		}
		*c = next
		return true
	}
	if next.Status == corev1.ConditionFalse {
		return false
	}
	status.Conditions = append(status.Conditions, next)
	return true
}
