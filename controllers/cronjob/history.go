package cronjob

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ended gives the condition by which a Job ended; empty: it hasn't.
func ended(job *batchv1.Job) batchv1.JobConditionType {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// expired picks the ended Jobs that the CronJob doesn't keep, the oldest first.
func expired(c *batchv1.CronJob, jobs []*batchv1.Job) []*batchv1.Job {
	return append(beyond(c.Spec.SuccessfulJobsHistoryLimit, jobs, batchv1.JobComplete),
		beyond(c.Spec.FailedJobsHistoryLimit, jobs, batchv1.JobFailed)...)
}

func beyond(limit *int32, jobs []*batchv1.Job, end batchv1.JobConditionType) []*batchv1.Job {
	if limit == nil {
		return nil
	}
	var those []*batchv1.Job
	for _, job := range jobs {
		if ended(job) == end {
			those = append(those, job)
		}
	}
	slices.SortFunc(those, byStart)
	return those[:max(0, len(those)-int(*limit))]
}

// byStart puts Jobs that never started last.
func byStart(a, b *batchv1.Job) int {
	from, other := a.Status.StartTime, b.Status.StartTime
	switch {
	case from == nil && other != nil:
		return 1
	case from != nil && other == nil:
		return -1
	case from == nil:
		return cmp.Compare(a.Name, b.Name)
	}
	return cmp.Or(from.Compare(other.Time), cmp.Compare(a.Name, b.Name))
}
