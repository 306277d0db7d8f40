package controllers_test

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// exiting is a pod template whose container ends by itself.
func exiting(after, code string) corev1.PodTemplateSpec {
	t := template("job", "app:1")
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	t.Annotations = map[string]string{"simulated.kogge.dev/exit-after": after, "simulated.kogge.dev/exit-code": code}
	return t
}

// ends waits for the Job to end with the condition, and for its pods to be let go.
func (w *world) ends(name string, kind batchv1.JobConditionType, reason string) batchv1.JobStatus {
	w.Helper()
	var status batchv1.JobStatus
	w.eventually(func(ctx context.Context) string {
		job, err := w.client.BatchV1().Jobs(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		status = job.Status
		pods, err := w.client.CoreV1().Pods(w.ns).List(ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + name})
		if err != nil {
			return err.Error()
		}
		for _, pod := range pods.Items {
			if len(pod.Finalizers) > 0 {
				return pod.Name + " is still held"
			}
		}
		for _, c := range status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionTrue && c.Reason == reason {
				return ""
			}
		}
		return fmt.Sprintf("status %+v", status)
	})
	return status
}

func indexedJob(w *world) {
	w.must(w.client.BatchV1().Jobs(w.ns).Create(w.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"},
		Spec: batchv1.JobSpec{Completions: ptr.To[int32](5), Parallelism: ptr.To[int32](2),
			CompletionMode: ptr.To(batchv1.IndexedCompletion), Template: exiting("10ms", "0")}}, metav1.CreateOptions{}))
	if s := w.ends("work", batchv1.JobComplete, batchv1.JobReasonCompletionsReached); s.Succeeded != 5 || s.CompletedIndexes != "0-4" || s.Failed != 0 {
		w.Errorf("status %+v", s)
	}
	w.reported("job-controller", "Completed", "Job completed")
}

func failingJob(w *world) {
	w.must(w.client.BatchV1().Jobs(w.ns).Create(w.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"},
		Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](6), Template: exiting("10ms", "7"),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{7}}}}}}},
		metav1.CreateOptions{}))
	if s := w.ends("work", batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy); s.Failed != 1 || s.Succeeded != 0 {
		w.Errorf("status %+v", s)
	}
	w.reported("job-controller", "PodFailurePolicy", "failed with exit code 7 matching FailJob rule at index 0")
}
