package job

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// maxUncounted is how many uids a status holds at most: 500 of them take some 20 KB.
const maxUncounted = 500

// Outcome is what became of a plan.
type Outcome struct {
	// Created and Deleted are how many pods were; DeletedReady, how many of the latter
	// were ready.
	Created, Deleted, DeletedReady int32
}

// Report is an event of the Job.
type Report struct{ Type, Reason, Message string }

// Settlement is how the Job stands after the plan was carried out.
type Settlement struct {
	// Status is to be written before any pod is let go.
	Status batchv1.JobStatus
	// Release are the pods to take the finalizer off then.
	Release []*corev1.Pod
	// Reports are events to make.
	Reports []Report

	// final is the condition that ends the Job once no pod is left; nil: none.
	final *batchv1.JobCondition
}

// Settle works out the status, and which pods have been counted in it.
func Settle(o Observed, plan Plan, outcome Outcome) Settlement {
	s := Settlement{Status: *o.Job.Status.DeepCopy()}
	s.Status.StartTime = startTime(&o)
	if s.Status.UncountedTerminatedPods == nil {
		s.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	active := o.active()
	verdict := plan.Verdict
	if verdict != nil && int(outcome.Deleted) != len(active) {
		verdict = nil // not before every pod has been told to end
	}
	s.Status.Active = int32(len(active)) + outcome.Created - outcome.Deleted
	s.Status.Ready = ptr.To(readyOf(active) - outcome.DeletedReady)
	s.Status.Terminating = ptr.To(int32(len(o.terminating())) + outcome.Deleted)
	switch {
	case plan.Verdict != nil:
	case plan.complete(o.Job, s.Status.Active):
		verdict = newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", o.Now)
	case plan.Managed:
		s.suspension(&o)
	}
	full := s.count(&o, &plan, verdict)
	if indexed(o.Job) {
		s.Status.FailedIndexes = nil
		if plan.given != nil {
			s.Status.FailedIndexes = ptr.To(plan.given.String())
		}
	}
	s.conclude(&o, verdict)
	if full {
		s.final = nil
	}
	return s
}

// complete says that as many as asked for have succeeded, and none is left running. A Job
// that doesn't say how many is content with one.
func (p *Plan) complete(job *batchv1.Job, active int32) bool {
	return p.succeeded >= ptr.Deref(job.Spec.Completions, 1) && active == 0
}

// suspension keeps the condition Suspended. A Job's time runs anew when it is resumed.
func (s *Settlement) suspension(o *Observed) {
	if suspended(o.Job) {
		if setCondition(&s.Status, *newCondition(batchv1.JobSuspended, "JobSuspended", "Job suspended", o.Now)) {
			s.Reports = append(s.Reports, Report{corev1.EventTypeNormal, "Suspended", "Job suspended"})
			s.Status.StartTime = nil
		}
		return
	}
	resumed := newCondition(batchv1.JobSuspended, "JobResumed", "Job resumed", o.Now)
	resumed.Status = corev1.ConditionFalse
	if setCondition(&s.Status, *resumed) {
		s.Reports = append(s.Reports, Report{corev1.EventTypeNormal, "Resumed", "Job resumed"})
		s.Status.StartTime = &metav1.Time{Time: o.Now}
	}
}

// count takes pods that ended into the status and says whether it had to leave some out.
func (s *Settlement) count(o *Observed, plan *Plan, verdict *batchv1.JobCondition) (full bool) {
	var indexes []int
	uncounted := s.Status.UncountedTerminatedPods
	// A success that ends the Job doesn't make failures of those that were still running.
	lost := verdict != nil && verdict.Type != batchv1.JobSuccessCriteriaMet
	s.Count(func(uid types.UID) bool {
		return slices.ContainsFunc(o.Pods, func(pod *corev1.Pod) bool { return pod.UID == uid && tracked(pod) })
	})
	for _, pod := range inOrder(o) {
		if !tracked(pod) || !releasable(o, plan, pod, verdict != nil) {
			continue
		}
		s.Release = append(s.Release, pod)
		known := slices.Contains(uncounted.Failed, pod.UID)
		switch {
		case known || !placed(o.Job, pod):
		case pod.Status.Phase == corev1.PodSucceeded && indexed(o.Job):
			if !plan.before.Has(indexOf(pod)) {
				indexes = append(indexes, indexOf(pod))
			}
		case pod.Status.Phase == corev1.PodSucceeded:
			if !slices.Contains(uncounted.Succeeded, pod.UID) {
				uncounted.Succeeded = append(uncounted.Succeeded, pod.UID)
			}
		case (failed(o.Job, pod) || lost) && judge(o.Job.Spec.PodFailurePolicy, pod).counts():
			uncounted.Failed = append(uncounted.Failed, pod.UID)
		}
		if full = len(indexes)+len(uncounted.Succeeded)+len(uncounted.Failed) >= maxUncounted; full {
			break
		}
	}
	if indexed(o.Job) {
		done := plan.done.Union(indexSet(indexes...))
		s.Status.Succeeded, s.Status.CompletedIndexes = int32(done.Len()), done.String()
	}
	return full
}

// inOrder gives the pods of an Indexed Job by index, so that indexes complete in order.
func inOrder(o *Observed) []*corev1.Pod {
	if !indexed(o.Job) {
		return o.Pods
	}
	return slices.SortedStableFunc(slices.Values(o.Pods), func(a, b *corev1.Pod) int { return cmp.Compare(indexOf(a), indexOf(b)) })
}

// releasable says that a pod may be let go: when it ended, or the Job does.
func releasable(o *Observed, plan *Plan, pod *corev1.Pod, ending bool) bool {
	if ending || o.Job.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return failed(o.Job, pod) && plan.replaced[indexOf(pod)] != pod
}

// conclude writes the verdict down, and keeps in mind what follows from it.
func (s *Settlement) conclude(o *Observed, verdict *batchv1.JobCondition) {
	if verdict == nil {
		return
	}
	final := batchv1.JobFailed
	switch verdict.Type {
	case batchv1.JobFailureTarget:
		setCondition(&s.Status, *verdict)
	case batchv1.JobSuccessCriteriaMet:
		setCondition(&s.Status, *verdict)
		final = batchv1.JobComplete
	}
	s.final = newCondition(final, verdict.Reason, verdict.Message, o.Now)
}

// Count turns the uids of pods that are no longer held into counts.
func (s *Settlement) Count(held func(types.UID) bool) {
	released := func(uid types.UID) bool { return !held(uid) }
	uncounted := s.Status.UncountedTerminatedPods
	before := len(uncounted.Succeeded)
	uncounted.Succeeded = slices.DeleteFunc(uncounted.Succeeded, released)
	s.Status.Succeeded += int32(before - len(uncounted.Succeeded))
	before = len(uncounted.Failed)
	uncounted.Failed = slices.DeleteFunc(uncounted.Failed, released)
	s.Status.Failed += int32(before - len(uncounted.Failed))
}

// Finish ends the Job if there is a verdict and no pod is left, and says what to tell of
// it; nothing, if it goes on.
func (s *Settlement) Finish(job *batchv1.Job) []Report {
	uncounted := s.Status.UncountedTerminatedPods
	if s.final == nil || len(uncounted.Succeeded)+len(uncounted.Failed) > 0 || ptr.Deref(s.Status.Terminating, 0) > 0 {
		return nil
	}
	setCondition(&s.Status, *s.final)
	if s.final.Type == batchv1.JobFailed {
		return []Report{{corev1.EventTypeWarning, s.final.Reason, s.final.Message}}
	}
	s.Status.CompletionTime = &s.final.LastTransitionTime
	reports := []Report{{corev1.EventTypeNormal, "Completed", "Job completed"}}
	if job.Spec.Completions != nil && s.Status.Succeeded > *job.Spec.Completions {
		tooMany := Report{corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached"}
		reports = slices.Insert(reports, 0, tooMany)
	}
	return reports
}
