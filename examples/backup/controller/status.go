package controller

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// tell writes into the status how far the store and the first copy are.
func tell(b *v1.Backup, store *appsv1.Deployment, first *batchv1.Job) {
	b.Status.ObservedGeneration = b.Generation
	for _, c := range []metav1.Condition{available(store), copied(first)} {
		c.ObservedGeneration = b.Generation
		meta.SetStatusCondition(&b.Status.Conditions, c)
	}
	if b.Status.FirstCopy == nil {
		b.Status.FirstCopy = first.Status.CompletionTime
	}
}

func available(store *appsv1.Deployment) metav1.Condition {
	for _, c := range store.Status.Conditions {
		if c.Type == appsv1.DeploymentAvailable {
			return metav1.Condition{Type: v1.ConditionAvailable, Status: metav1.ConditionStatus(c.Status), Reason: cmp.Or(c.Reason, "Unknown"), Message: c.Message}
		}
	}
	return metav1.Condition{Type: v1.ConditionAvailable, Status: metav1.ConditionUnknown, Reason: "Starting"}
}

func copied(first *batchv1.Job) metav1.Condition {
	for _, c := range first.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return metav1.Condition{Type: v1.ConditionCopied, Status: metav1.ConditionTrue, Reason: "Complete"}
		case c.Type == batchv1.JobFailed:
			return metav1.Condition{Type: v1.ConditionCopied, Status: metav1.ConditionFalse, Reason: cmp.Or(c.Reason, "Failed"), Message: c.Message}
		}
	}
	return metav1.Condition{Type: v1.ConditionCopied, Status: metav1.ConditionUnknown, Reason: "Copying"}
}
