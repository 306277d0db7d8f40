package job

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

// jobKind is what pods name as their owner's kind.
var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

const indexVariable = "JOB_COMPLETION_INDEX"

// maxNamePrefix is the longest prefix that the API server completes to a name of 63
// characters without cutting it.
const maxNamePrefix = 63 - 5

// NewPod is the Job's next pod of an index, which follows a failed one or nil.
func NewPod(job *batchv1.Job, index int, replaced *corev1.Pod) *corev1.Pod {
	pod := podcontrol.NewPod(&job.Spec.Template, job, jobKind)
	if !tracked(pod) {
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if index == NoIndex {
		return pod
	}
	number := strconv.Itoa(index)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = number
	pod.Labels[batchv1.JobCompletionIndexAnnotation] = number
	pod.Spec.Hostname = job.Name + "-" + number
	suffix := "-" + number + "-"
	pod.GenerateName = job.Name[:min(len(job.Name), maxNamePrefix-len(suffix))] + suffix
	for i := range pod.Spec.InitContainers {
		tellIndex(&pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		tellIndex(&pod.Spec.Containers[i])
	}
	if job.Spec.BackoffLimitPerIndex != nil {
		noteFailures(job, pod, replaced)
	}
	return pod
}

// tellIndex gives a container its index, unless the template does.
func tellIndex(container *corev1.Container) {
	if slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == indexVariable }) {
		return
	}
	container.Env = append(container.Env, corev1.EnvVar{Name: indexVariable, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)},
	}})
}

// noteFailures writes down how often the pod's index has failed.
func noteFailures(job *batchv1.Job, pod, replaced *corev1.Pod) {
	counted, ignored := int32(0), int32(0)
	if replaced != nil {
		counted = failuresNoted(replaced, batchv1.JobIndexFailureCountAnnotation)
		ignored = failuresNoted(replaced, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if judge(job.Spec.PodFailurePolicy, replaced).counts() {
			counted++
		} else {
			ignored++
		}
	}
	pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(counted))
	if ignored > 0 {
		pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(int(ignored))
	}
}
