package job

import (
	"math"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// NoIndex is the completion index of a pod that has none.
const NoIndex = -1

// indexOf reads a pod's completion index.
func indexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || index < 0 {
		return NoIndex
	}
	return index
}

// indexesOf is the set of the pods' indexes.
func indexesOf(pods []*corev1.Pod) Indexes {
	var indexes []int
	for _, pod := range pods {
		if index := indexOf(pod); index != NoIndex {
			indexes = append(indexes, index)
		}
	}
	return indexSet(indexes...)
}

// succeededIndexes are those that the status has, and those with the newly succeeded.
func succeededIndexes(o *Observed) (before, now Indexes) {
	before = ParseIndexes(o.Job.Status.CompletedIndexes, int(*o.Job.Spec.Completions))
	return before, before.Union(indexesOf(filter(o.Pods, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded && tracked(pod) && placed(o.Job, pod)
	})))
}

// failedIndexes are those that the status has, and those that have failed once too often.
func failedIndexes(o *Observed) Indexes {
	var before Indexes
	if o.Job.Status.FailedIndexes != nil {
		before = ParseIndexes(*o.Job.Status.FailedIndexes, int(*o.Job.Spec.Completions))
	}
	return before.Union(indexesOf(filter(o.Pods, func(pod *corev1.Pod) bool {
		return tracked(pod) && placed(o.Job, pod) && failsIndex(o.Job, pod)
	})))
}

func failsIndex(job *batchv1.Job, pod *corev1.Pod) bool {
	if !failed(job, pod) {
		return false
	}
	judgement := judge(job.Spec.PodFailurePolicy, pod)
	if judgement.action == batchv1.PodFailurePolicyActionFailIndex {
		return true
	}
	return judgement.counts() && failuresNoted(pod, batchv1.JobIndexFailureCountAnnotation) >= *job.Spec.BackoffLimitPerIndex
}

// failuresNoted reads how often the pod's index had failed when the pod was made; what is
// no such number counts as none.
func failuresNoted(pod *corev1.Pod, annotation string) int32 {
	number, err := strconv.Atoi(pod.Annotations[annotation])
	if err != nil || number < 0 || number > math.MaxInt32 {
		return 0
	}
	return int32(number)
}

// allFailuresNoted counts the ignored failures too: the backoff doesn't ignore them.
func allFailuresNoted(pod *corev1.Pod) int32 {
	return failuresNoted(pod, batchv1.JobIndexFailureCountAnnotation) +
		failuresNoted(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// heldBack gives, by index, the failed pod that is kept until its replacement is there,
// since it alone knows how often its index has failed.
func heldBack(o *Observed, done Indexes) map[int]*corev1.Pod {
	held := map[int]*corev1.Pod{}
	done = done.Union(indexesOf(o.active()))
	for _, pod := range o.Pods {
		index := indexOf(pod)
		if !tracked(pod) || !placed(o.Job, pod) || !failed(o.Job, pod) || done.Has(index) {
			continue
		}
		last := held[index]
		if last == nil || allFailuresNoted(last) <= allFailuresNoted(pod) && !finishedAt(pod).Before(finishedAt(last)) {
			held[index] = pod
		}
	}
	return held
}

// remainingFor is how long the index of a failed pod may not be tried again yet.
func remainingFor(o *Observed, last *corev1.Pod) Backoff {
	if last == nil {
		return Backoff{}
	}
	return Backoff{Failures: allFailuresNoted(last) + 1, LastFailure: finishedAt(last)}
}
