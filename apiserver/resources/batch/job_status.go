package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// change compares a job's status with the one before. What was wrong already is not held against a
// writer that touches other things.
type change struct {
	job, old *batchv1.Job
	now, was *batchv1.JobStatus
	errs     field.ErrorList
}

func (c *change) is(t batchv1.JobConditionType) bool  { return isTrue(c.now, t) }
func (c *change) had(t batchv1.JobConditionType) bool { return isTrue(c.was, t) }

// turned says whether a condition became true, or no longer is.
func (c *change) turned(t batchv1.JobConditionType) bool { return c.is(t) != c.had(t) }

func (c *change) finished() bool { return c.is(batchv1.JobComplete) || c.is(batchv1.JobFailed) }

func (c *change) ended() bool {
	return c.finished() != (c.had(batchv1.JobComplete) || c.had(batchv1.JobFailed))
}

func (c *change) invalid(name string, value any, text string) {
	c.errs = append(c.errs, field.Invalid(statusPath.Child(name), value, text))
}

func (c *change) conditions(text string) { c.invalid("conditions", field.OmitValueType{}, text) }

// validateJobStatus judges what a job's controller writes.
func validateJobStatus(j, old *batchv1.Job) field.ErrorList {
	c := &change{job: j, old: old, now: &j.Status, was: &old.Status}
	c.counts()
	c.completion()
	c.end()
	c.indexes()
	c.terminating()
	c.criteria()
	c.history()
	return c.errs
}

func (c *change) counts() {
	s := c.now
	c.errs = append(c.errs, rules.NotNegative(statusPath.Child("active"), s.Active)...)
	c.errs = append(c.errs, rules.NotNegative(statusPath.Child("succeeded"), s.Succeeded)...)
	c.errs = append(c.errs, rules.NotNegative(statusPath.Child("failed"), s.Failed)...)
	c.errs = append(c.errs, rules.NotNegativePtr(statusPath.Child("ready"), s.Ready)...)
	c.errs = append(c.errs, rules.NotNegativePtr(statusPath.Child("terminating"), s.Terminating)...)
	if s.UncountedTerminatedPods == nil {
		return
	}
	seen := map[types.UID]bool{}
	for _, list := range []struct {
		name string
		uids []types.UID
	}{{"succeeded", s.UncountedTerminatedPods.Succeeded}, {"failed", s.UncountedTerminatedPods.Failed}} {
		for i, uid := range list.uids {
			path := statusPath.Child("uncountedTerminatedPods", list.name).Index(i)
			switch {
			case uid == "":
				c.errs = append(c.errs, field.Invalid(path, uid, "must not be empty"))
			case seen[uid]:
				c.errs = append(c.errs, field.Duplicate(path, uid))
			}
			seen[uid] = true
		}
	}
}

// completion: a complete job has not failed, and has a time of completion that is not before its start.
func (c *change) completion() {
	complete, completionChanged := c.is(batchv1.JobComplete), !ptr.Equal(c.now.CompletionTime, c.was.CompletionTime)
	if (c.turned(batchv1.JobComplete) || c.turned(batchv1.JobFailed)) && complete && c.is(batchv1.JobFailed) {
		c.conditions("cannot set Complete=True and Failed=true conditions")
	}
	if (c.turned(batchv1.JobComplete) || c.turned(batchv1.JobFailureTarget)) && complete && c.is(batchv1.JobFailureTarget) {
		c.conditions("cannot set Complete=True and FailureTarget=true conditions")
	}
	at, started := c.now.CompletionTime, c.now.StartTime
	if c.turned(batchv1.JobComplete) || completionChanged {
		if at != nil && !complete {
			c.invalid("completionTime", at, "cannot set completionTime when there is no Complete=True condition")
		}
		if at == nil && complete {
			c.errs = append(c.errs, field.Required(statusPath.Child("completionTime"), "completionTime is required for Complete jobs"))
		}
	}
	if (completionChanged || !ptr.Equal(started, c.was.StartTime)) && started != nil && at != nil && at.Before(started) {
		c.invalid("completionTime", at, "must be equal to or after `startTime`")
	}
}

// end: a job ends by way of the condition that announces how, and then has no pods and nothing to count.
func (c *change) end() {
	if (c.turned(batchv1.JobFailed) || !ptr.Equal(c.now.FailedIndexes, c.was.FailedIndexes)) && c.is(batchv1.JobFailed) && !c.is(batchv1.JobFailureTarget) {
		c.conditions("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (c.turned(batchv1.JobComplete) || c.turned(batchv1.JobSuccessCriteriaMet)) && c.is(batchv1.JobComplete) && !c.is(batchv1.JobSuccessCriteriaMet) {
		c.conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
	if !c.finished() {
		return
	}
	if (c.ended() || c.now.Active != c.was.Active) && c.now.Active > 0 {
		c.invalid("active", c.now.Active, "active>0 is invalid for finished job")
	}
	neverRan := ptr.Deref(c.job.Spec.Suspend, false) && c.job.Spec.Completions != nil && *c.job.Spec.Completions == 0
	if (c.ended() || !ptr.Equal(c.now.StartTime, c.was.StartTime)) && !neverRan && c.now.StartTime == nil {
		c.errs = append(c.errs, field.Required(statusPath.Child("startTime"), "startTime is required for finished job"))
	}
	if u := c.now.UncountedTerminatedPods; (c.ended() || !equality.Semantic.DeepEqual(u, c.was.UncountedTerminatedPods)) && u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
		c.invalid("uncountedTerminatedPods", u, "must be empty for finished job")
	}
}

func (c *change) indexes() {
	completions, failed := c.job.Spec.Completions, c.now.FailedIndexes
	completedChanged, failedChanged := c.now.CompletedIndexes != c.was.CompletedIndexes, !ptr.Equal(failed, c.was.FailedIndexes)
	if completedChanged && completions != nil {
		if _, err := countIndexes(c.now.CompletedIndexes, *completions); err != nil {
			c.invalid("completedIndexes", c.now.CompletedIndexes, "error parsing completedIndexes: "+err.Error())
		}
	}
	if failedChanged && completions != nil && c.job.Spec.BackoffLimitPerIndex != nil && failed != nil {
		if _, err := countIndexes(*failed, *completions); err != nil {
			c.invalid("failedIndexes", failed, "error parsing failedIndexes: "+err.Error())
		}
	}
	if completedChanged && c.now.CompletedIndexes != "" && ptr.Deref(c.job.Spec.CompletionMode, "") != batchv1.IndexedCompletion {
		c.invalid("completedIndexes", c.now.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if failedChanged && c.job.Spec.BackoffLimitPerIndex == nil && failed != nil {
		c.invalid("failedIndexes", *failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if (completedChanged || failedChanged) && completions != nil && failed != nil {
		if i, both := overlap(c.now.CompletedIndexes, *failed, *completions); both {
			c.invalid("failedIndexes", *failed, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", i))
		}
	}
}

func (c *change) terminating() {
	if n := c.now.Terminating; (c.ended() || !ptr.Equal(n, c.was.Terminating)) && c.finished() && ptr.Deref(n, 0) > 0 {
		c.invalid("terminating", n, "terminating>0 is invalid for finished job")
	}
	if n := c.now.Ready; (!ptr.Equal(n, c.was.Ready) || c.now.Active != c.was.Active) && n != nil && *n > c.now.Active {
		c.invalid("ready", *n, "cannot set more ready pods than active")
	}
}

// criteria: who met the criteria of success has not failed.
func (c *change) criteria() {
	met := c.is(batchv1.JobSuccessCriteriaMet)
	if met && c.is(batchv1.JobFailed) {
		c.conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if met && c.is(batchv1.JobFailureTarget) {
		c.conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if c.job.Spec.SuccessPolicy != nil && !met && c.is(batchv1.JobComplete) {
		c.conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// history: what ended stays so, and counts only grow.
func (c *change) history() {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		if c.had(t) && !c.is(t) {
			c.conditions(fmt.Sprintf("cannot disable the terminal %s=True condition", t))
		}
	}
	if c.now.Failed < c.was.Failed {
		c.invalid("failed", c.now.Failed, "cannot decrease the failed counter")
	}
	elastic := ptr.Deref(c.job.Spec.CompletionMode, "") == batchv1.IndexedCompletion && ptr.Equal(c.job.Spec.Completions, c.job.Spec.Parallelism)
	if !elastic && c.now.Succeeded < c.was.Succeeded {
		c.invalid("succeeded", c.now.Succeeded, "cannot decrease the succeeded counter")
	}
	if c.now.CompletionTime != nil && c.was.CompletionTime != nil && !ptr.Equal(c.now.CompletionTime, c.was.CompletionTime) {
		c.invalid("completionTime", c.now.CompletionTime, rules.ImmutableText)
	}
	resuming := c.had(batchv1.JobSuspended) && condition(c.now, batchv1.JobSuspended) == corev1.ConditionFalse
	if c.was.StartTime != nil && !ptr.Equal(c.now.StartTime, c.was.StartTime) && !resuming && !ptr.Deref(c.job.Spec.Suspend, false) {
		c.invalid("startTime", c.now.StartTime, "field is immutable for unsuspended job once set")
	}
	if c.had(batchv1.JobSuccessCriteriaMet) && !c.is(batchv1.JobSuccessCriteriaMet) {
		c.conditions("cannot disable the SuccessCriteriaMet=True condition")
	}
	if c.had(batchv1.JobComplete) && !c.had(batchv1.JobSuccessCriteriaMet) && c.is(batchv1.JobSuccessCriteriaMet) {
		c.conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}
