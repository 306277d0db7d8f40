package cronjob

import (
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var cronJobKind = batchv1.SchemeGroupVersion.WithKind("CronJob")

// JobName is the name of the Job of a time: the CronJob's, and the minutes since 1970.
func JobName(c *batchv1.CronJob, at time.Time) string {
	return fmt.Sprintf("%s-%d", c.Name, at.Unix()/60)
}

// NewJob is the Job of a time.
func NewJob(c *batchv1.CronJob, at time.Time) (*batchv1.Job, error) {
	zone, err := time.LoadLocation(ptr.Deref(c.Spec.TimeZone, ""))
	if err != nil {
		return nil, fmt.Errorf("load the time zone: %w", err)
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: JobName(c, at), Namespace: c.Namespace,
			Labels: maps.Clone(c.Spec.JobTemplate.Labels), Annotations: maps.Clone(c.Spec.JobTemplate.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, cronJobKind)},
		},
		Spec: *c.Spec.JobTemplate.Spec.DeepCopy(),
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[batchv1.CronJobScheduledTimestampAnnotation] = at.In(zone).Format(time.RFC3339)
	return job, nil
}
