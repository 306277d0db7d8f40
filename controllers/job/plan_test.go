package job

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testJob wants three pods, two at a time.
func testJob(changes ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "work", Namespace: "ns", UID: "job"},
		Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](3), BackoffLimit: ptr.To[int32](1),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}},
		Status: batchv1.JobStatus{StartTime: &metav1.Time{Time: testTime.Add(-time.Minute)}},
	}
	for _, change := range changes {
		change(job)
	}
	return job
}

func inIndexes(job *batchv1.Job) { job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }
func onHold(job *batchv1.Job)    { job.Spec.Suspend = ptr.To(true) }
func waits(job *batchv1.Job)     { job.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }
func noNumber(job *batchv1.Job)  { job.Spec.Completions = nil }
func oneByOne(job *batchv1.Job) {
	job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = ptr.To[int32](0), ptr.To[int32](99)
}
func done(text string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Status.CompletedIndexes = text
		job.Status.Succeeded = int32(ParseIndexes(text, 9).Len())
	}
}

func said(kind batchv1.JobConditionType) func(*batchv1.Job) {
	return func(job *batchv1.Job) { setCondition(&job.Status, *newCondition(kind, "Why", "because", testTime)) }
}

func rule(action batchv1.PodFailurePolicyAction) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}}}}
	}
}

// testPod is a tracked pod of an index, in a phase.
func testPod(index int, phase corev1.PodPhase, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d-%s", index, phase), Namespace: "ns",
		Finalizers: []string{batchv1.JobTrackingFinalizer}, Annotations: map[string]string{}}, Status: corev1.PodStatus{Phase: phase}}
	if index != NoIndex {
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	}
	if phase == corev1.PodFailed {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 42, FinishedAt: metav1.NewTime(testTime.Add(-time.Hour))}}}}
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func leaving(pod *corev1.Pod)   { pod.DeletionTimestamp = &metav1.Time{Time: testTime.Add(-time.Hour)} }
func untracked(pod *corev1.Pod) { pod.Finalizers = nil }
func justNow(pod *corev1.Pod) {
	pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(testTime.Add(-time.Second))
}

func pods(list ...*corev1.Pod) []*corev1.Pod {
	for i, pod := range list {
		pod.UID = types.UID(fmt.Sprintf("uid-%d", i))
	}
	return list
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const run, ok, bad = corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed
	for name, c := range map[string]struct {
		job     *batchv1.Job
		pods    []*corev1.Pod
		create  string
		delete  int
		verdict batchv1.JobConditionType
		reason  string
		waits   bool
	}{
		"begins":                           {testJob(), nil, "[-1 -1]", 0, "", "", false},
		"goes on":                          {testJob(), pods(testPod(-1, run), testPod(-1, ok)), "[-1]", 0, "", "", false},
		"no more than are missing":         {testJob(), pods(testPod(-1, ok), testPod(-1, ok)), "[-1]", 0, "", "", false},
		"counts only what is tracked":      {testJob(), pods(testPod(-1, ok, untracked)), "[-1 -1]", 0, "", "", false},
		"too many run":                     {testJob(), pods(testPod(-1, run), testPod(-1, run), testPod(-1, run)), "[]", 1, "", "", false},
		"no number: one success is enough": {testJob(noNumber), pods(testPod(-1, ok), testPod(-1, run)), "[]", 0, "", "", false},
		"suspended":                        {testJob(onHold), pods(testPod(-1, run)), "[]", 1, "", "", false},
		"a failure is replaced later":      {testJob(), pods(testPod(-1, bad, justNow)), "[]", 0, "", "", true},
		"a failure is replaced in time":    {testJob(), pods(testPod(-1, bad)), "[-1 -1]", 0, "", "", false},
		"too many failures":                {testJob(), pods(testPod(-1, bad), testPod(-1, bad), testPod(-1, run)), "[]", 1, batchv1.JobFailureTarget, "BackoffLimitExceeded", false},
		"deletion is a failure":            {testJob(), pods(testPod(-1, run, leaving), testPod(-1, run, leaving)), "[]", 0, batchv1.JobFailureTarget, "BackoffLimitExceeded", false},
		"unless its end is waited for":     {testJob(waits), pods(testPod(-1, run, leaving), testPod(-1, run, leaving)), "[]", 0, "", "", false},
		"an ignored failure":               {testJob(rule(batchv1.PodFailurePolicyActionIgnore)), pods(testPod(-1, bad), testPod(-1, bad)), "[-1 -1]", 0, "", "", false},
		"a fatal failure":                  {testJob(rule(batchv1.PodFailurePolicyActionFailJob)), pods(testPod(-1, bad), testPod(-1, run)), "[]", 1, batchv1.JobFailureTarget, "PodFailurePolicy", false},
		"a failing Job fails":              {testJob(said(batchv1.JobFailureTarget)), pods(testPod(-1, ok)), "[]", 0, batchv1.JobFailed, "Why", false},
		"a succeeding Job succeeds":        {testJob(said(batchv1.JobSuccessCriteriaMet)), pods(testPod(-1, bad), testPod(-1, bad)), "[]", 0, batchv1.JobSuccessCriteriaMet, "Why", false},
		"out of time": {testJob(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](60) }), pods(testPod(-1, run)),
			"[]", 1, batchv1.JobFailureTarget, "DeadlineExceeded", false},
		"still in time": {testJob(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](61) }), pods(testPod(-1, run), testPod(-1, run)), "[]", 0, "", "", true},
		"restarted too often": {testJob(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }),
			pods(testPod(-1, run, func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}} })),
			"[]", 1, batchv1.JobFailureTarget, "BackoffLimitExceeded", false},
		"indexes":                          {testJob(inIndexes), nil, "[0 1]", 0, "", "", false},
		"a succeeded index stays so":       {testJob(inIndexes, done("0")), pods(testPod(1, run)), "[2]", 0, "", "", false},
		"two of one index":                 {testJob(inIndexes), pods(testPod(0, run), testPod(0, run)), "[]", 1, "", "", false},
		"an index that there isn't":        {testJob(inIndexes), pods(testPod(7, run), testPod(0, run)), "[]", 1, "", "", false},
		"an index succeeds once":           {testJob(inIndexes), pods(testPod(0, ok), testPod(0, ok), testPod(1, run)), "[2]", 0, "", "", false},
		"a failed index":                   {testJob(inIndexes, oneByOne), pods(testPod(0, bad)), "[1 2]", 0, "", "", false},
		"the last indexes have failed":     {testJob(inIndexes, oneByOne, done("1,2")), pods(testPod(0, bad)), "[]", 0, batchv1.JobFailureTarget, "FailedIndexes", false},
		"too many failed indexes":          {testJob(inIndexes, oneByOne, func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = ptr.To[int32](0) }), pods(testPod(0, bad)), "[]", 0, batchv1.JobFailureTarget, "MaxFailedIndexesExceeded", false},
		"an index waits for its next try":  {testJob(inIndexes, oneByOne, func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = ptr.To[int32](1) }), pods(testPod(0, bad, justNow)), "[1]", 0, "", "", true},
		"enough for the success policy":    {testJob(inIndexes, succeedsWith("1-2", 1)), pods(testPod(2, ok), testPod(0, run)), "[]", 1, batchv1.JobSuccessCriteriaMet, "SuccessPolicy", false},
		"not enough of the success policy": {testJob(inIndexes, succeedsWith("1-2", 1)), pods(testPod(0, ok), testPod(1, run)), "[2]", 0, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(Observed{Job: c.job, Pods: c.pods, Now: testTime})
			if created := fmt.Sprint(plan.Create); created != c.create || len(plan.Delete) != c.delete {
				t.Errorf("creates %s, deletes %d", created, len(plan.Delete))
			}
			verdict := ptr.Deref(plan.Verdict, batchv1.JobCondition{})
			if verdict.Type != c.verdict || verdict.Reason != c.reason {
				t.Errorf("verdict %+v", verdict)
			}
			if (plan.CheckAfter > 0) != c.waits {
				t.Errorf("checks after %s", plan.CheckAfter)
			}
		})
	}
}

func succeedsWith(indexes string, count int32) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: &indexes, SucceededCount: &count}}}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int32]time.Duration{0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 99: 10 * time.Minute} {
		if got := (Backoff{Failures: failures, LastFailure: testTime}).remaining(testTime); got != want {
			t.Errorf("after %d failures: %s", failures, got)
		}
	}
	before := Backoff{Failures: 4, LastFailure: testTime.Add(-time.Hour)}
	if after := before.after([]*corev1.Pod{testPod(-1, corev1.PodSucceeded)}, nil); after.Failures != 0 {
		t.Errorf("a success forgets: %+v", after)
	}
	if after := before.after(nil, []*corev1.Pod{testPod(-1, corev1.PodFailed, justNow)}); after.Failures != 5 || !after.LastFailure.Equal(testTime.Add(-time.Second)) {
		t.Errorf("a failure adds: %+v", after)
	}
}
