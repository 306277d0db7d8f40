package ttlafterfinished

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Decide says how long a Job is still kept. Limited is false for one that hasn't ended, is
// being deleted, or stays for ever.
func Decide(job *batchv1.Job, now time.Time) (wait time.Duration, limited bool) {
	if job.DeletionTimestamp != nil || job.Spec.TTLSecondsAfterFinished == nil {
		return 0, false
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			kept := time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second
			return max(0, c.LastTransitionTime.Add(kept).Sub(now)), true
		}
	}
	return 0, false
}
