package controller

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// image does both: it keeps copies and makes them.
const image = "registry.example.com/backup:1"

// StoreName is the name of the Deployment that keeps a Backup's copies.
func StoreName(b *v1.Backup) string { return b.Name + "-store" }

// FirstName is the name of the Job that makes a Backup's first copy.
func FirstName(b *v1.Backup) string { return b.Name + "-first" }

// planStore writes what the store is to be into it.
func planStore(b *v1.Backup, store *appsv1.Deployment) {
	labels := map[string]string{"backup.example.com/store": b.Name}
	store.Spec.Replicas = ptr.To[int32](1)
	store.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	store.Spec.Template.Labels = labels
	store.Spec.Template.Spec.Containers = containers(store.Spec.Template.Spec.Containers, "store", "keep", strconv.Itoa(int(ptr.Deref(b.Spec.Keep, 1))))
}

// planFirst writes what the first copy's Job is to be into it, unless it is there: a Job's template can't change.
func planFirst(b *v1.Backup, job *batchv1.Job) {
	if job.CreationTimestamp.IsZero() {
		planJob(b, &job.Spec)
	}
}

// planSchedule writes what the CronJob is to be into it.
func planSchedule(b *v1.Backup, c *batchv1.CronJob) {
	c.Spec.Schedule = b.Spec.Schedule
	c.Spec.Suspend = ptr.To(b.Spec.Suspend)
	c.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
	planJob(b, &c.Spec.JobTemplate.Spec)
}

func planJob(b *v1.Backup, job *batchv1.JobSpec) {
	job.BackoffLimit = ptr.To[int32](0) // a copy that fails is for the next one to make up for
	job.Template.Annotations = b.Spec.PodAnnotations
	job.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Template.Spec.Containers = containers(job.Template.Spec.Containers, "copy", "copy", b.Spec.Claim)
}

// containers are those that are there, with what the plan says about the only one; defaults of the server stay.
func containers(have []corev1.Container, name string, args ...string) []corev1.Container {
	if len(have) != 1 {
		have = make([]corev1.Container, 1)
	}
	have[0].Name, have[0].Image, have[0].Args = name, image, args
	return have
}
