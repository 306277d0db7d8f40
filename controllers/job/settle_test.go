package job

import (
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// live plays passes until nothing changes any more; every pod that is let go is gone, and
// every pod deleted ends at once. It gives the job and the reasons of its events.
func live(t *testing.T, job *batchv1.Job, pods []*corev1.Pod) (*batchv1.Job, []string) {
	t.Helper()
	var reasons []string
	var backoff Backoff
	for range 20 {
		observed := Observed{Job: job, Pods: pods, Backoff: backoff, Now: testTime}
		plan := Decide(observed)
		outcome := Outcome{}
		if !plan.Uncounted && plan.Verdict != nil {
			outcome.Deleted = int32(len(plan.Delete))
		}
		s := Settle(observed, plan, outcome)
		for _, pod := range plan.Delete {
			leaving(pod)
		}
		for _, pod := range s.Release {
			pod.Finalizers = nil
		}
		pods = slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !tracked(pod) && pod.DeletionTimestamp != nil })
		s.Count(func(uid types.UID) bool {
			return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.UID == uid && tracked(pod) })
		})
		for _, report := range append(s.Reports, s.Finish(job)...) {
			reasons = append(reasons, report.Reason)
		}
		job = job.DeepCopy()
		job.Status, backoff = s.Status, plan.Backoff
		if Finished(job) {
			return job, reasons
		}
	}
	return job, reasons
}

func conditions(job *batchv1.Job) (all []string) {
	for _, c := range job.Status.Conditions {
		all = append(all, string(c.Type)+"="+string(c.Status)+" "+c.Reason)
	}
	return all
}

func TestEnds(t *testing.T) {
	t.Parallel()
	const run, ok, bad = corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed
	for name, c := range map[string]struct {
		job                       *batchv1.Job
		pods                      []*corev1.Pod
		conditions                string
		events                    string
		succeeded, failed, active int32
		indexes                   string
	}{
		"completions": {testJob(), pods(testPod(-1, ok), testPod(-1, ok), testPod(-1, ok)),
			"[SuccessCriteriaMet=True CompletionsReached Complete=True CompletionsReached]", "[Completed]", 3, 0, 0, ""},
		"failures, and what still ran": {testJob(), pods(testPod(-1, bad), testPod(-1, bad), testPod(-1, run)),
			"[FailureTarget=True BackoffLimitExceeded Failed=True BackoffLimitExceeded]", "[BackoffLimitExceeded]", 0, 3, 0, ""},
		"indexes": {testJob(inIndexes), pods(testPod(2, ok), testPod(0, ok), testPod(1, ok), testPod(1, ok)),
			"[SuccessCriteriaMet=True CompletionsReached Complete=True CompletionsReached]", "[Completed]", 3, 0, 0, "0-2"},
		"a success policy forgives": {testJob(inIndexes, succeedsWith("1", 1)), pods(testPod(1, ok), testPod(0, run)),
			"[SuccessCriteriaMet=True SuccessPolicy Complete=True SuccessPolicy]", "[Completed]", 1, 0, 0, "1"},
		"goes on":   {testJob(), pods(testPod(-1, ok), testPod(-1, run)), "[]", "[]", 1, 0, 1, ""},
		"suspended": {testJob(onHold), nil, "[Suspended=True JobSuspended]", "[Suspended]", 0, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, events := live(t, c.job, c.pods)
			s := job.Status
			if got := fmt.Sprint(conditions(job)); got != c.conditions {
				t.Errorf("conditions %s", got)
			}
			if got := fmt.Sprint(events); got != c.events {
				t.Errorf("events %s", got)
			}
			if s.Succeeded != c.succeeded || s.Failed != c.failed || s.Active != c.active || s.CompletedIndexes != c.indexes {
				t.Errorf("status %+v", s)
			}
			if Finished(job) && slices.ContainsFunc(c.pods, tracked) {
				t.Error("a pod still has the finalizer")
			}
		})
	}
}

// Five thousand indexes of which one has failed: nothing is lost on the way (k/k#109485).
func TestManyIndexes(t *testing.T) {
	t.Parallel()
	const many = 5000
	var all []*corev1.Pod
	for i := range many {
		phase := corev1.PodSucceeded
		if i == 77 {
			phase = corev1.PodFailed
		}
		all = append(all, testPod(i, phase))
	}
	job := testJob(inIndexes, oneByOne, func(j *batchv1.Job) {
		j.Spec.Parallelism, j.Spec.Completions = ptr.To[int32](many), ptr.To[int32](many)
	})
	job, _ = live(t, job, pods(all...))
	if got := fmt.Sprint(conditions(job)); got != "[FailureTarget=True FailedIndexes Failed=True FailedIndexes]" {
		t.Errorf("conditions %s", got)
	}
	if job.Status.CompletedIndexes != "0-76,78-4999" || ptr.Deref(job.Status.FailedIndexes, "") != "77" || job.Status.Failed != 1 {
		t.Errorf("status %+v", job.Status)
	}
	if slices.ContainsFunc(all, tracked) {
		t.Error("a pod still has the finalizer")
	}
}

// The verdict is written before any pod is let go, the end only after.
func TestVerdictFirst(t *testing.T) {
	t.Parallel()
	o := Observed{Job: testJob(), Pods: pods(testPod(-1, corev1.PodFailed), testPod(-1, corev1.PodFailed)), Now: testTime}
	s := Settle(o, Decide(o), Outcome{})
	if got := fmt.Sprint(conditions(&batchv1.Job{Status: s.Status})); got != "[FailureTarget=True BackoffLimitExceeded]" || len(s.Status.UncountedTerminatedPods.Failed) != 2 {
		t.Errorf("conditions %s, status %+v", got, s.Status)
	}
	if reports := s.Finish(o.Job); reports != nil {
		t.Errorf("ends with uncounted pods: %v", reports)
	}
}

func TestNewPod(t *testing.T) {
	t.Parallel()
	job := testJob(inIndexes, oneByOne, rule(batchv1.PodFailurePolicyActionIgnore))
	pod := NewPod(job, 12, testPod(12, corev1.PodFailed))
	if pod.GenerateName != "work-12-" || pod.Spec.Hostname != "work-12" || pod.Labels[batchv1.JobCompletionIndexAnnotation] != "12" ||
		pod.Annotations[batchv1.JobIndexFailureCountAnnotation] != "0" || pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] != "1" ||
		pod.Spec.Containers[0].Env[0].Name != "JOB_COMPLETION_INDEX" || !tracked(pod) {
		t.Errorf("pod %+v", pod)
	}
}
