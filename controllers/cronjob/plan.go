package cronjob

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Observed is everything that a decision about one CronJob rests on.
type Observed struct {
	CronJob *batchv1.CronJob
	// Jobs are those that the CronJob owns.
	Jobs []*batchv1.Job
	// Missing are the uids of active Jobs that are known to be gone.
	Missing map[types.UID]bool
	Now     time.Time
}

// Plan is what to do about one CronJob.
type Plan struct {
	// Status is the one to write, once the rest is done.
	Status  batchv1.CronJobStatus
	Reports []Report
	// Expired are ended Jobs to delete.
	Expired []*batchv1.Job
	// Replace are running Jobs that must be gone before the next begins.
	Replace []corev1.ObjectReference
	// Start is the time whose Job is to be made; zero: none.
	Start time.Time
	// CheckAfter is how long it takes to the next time; zero: nothing comes by itself.
	CheckAfter time.Duration
}

// Report is an event of the CronJob.
type Report struct{ Type, Reason, Message string }

func (p *Plan) report(kind, reason, format string, values ...any) {
	p.Reports = append(p.Reports, Report{kind, reason, fmt.Sprintf(format, values...)})
}

// Decide works out one pass. It changes nothing that it is given.
func Decide(o Observed) Plan {
	plan := Plan{Status: *o.CronJob.Status.DeepCopy(), Expired: expired(o.CronJob, o.Jobs)}
	for _, job := range plan.Expired {
		plan.drop(job.UID)
	}
	plan.see(&o)
	if o.CronJob.DeletionTimestamp == nil {
		plan.schedule(&o)
	}
	return plan
}

func (p *Plan) active(uid types.UID) bool {
	return slices.ContainsFunc(p.Status.Active, func(job corev1.ObjectReference) bool { return job.UID == uid })
}

func (p *Plan) drop(uid types.UID) {
	p.Status.Active = slices.DeleteFunc(p.Status.Active, func(job corev1.ObjectReference) bool { return job.UID == uid })
}

// see takes in what became of the Jobs.
func (p *Plan) see(o *Observed) {
	for _, job := range o.Jobs {
		end := ended(job)
		if end == "" {
			if !p.active(job.UID) {
				p.report(corev1.EventTypeWarning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", job.Name)
			}
			continue
		}
		if p.active(job.UID) {
			p.drop(job.UID)
			p.report(corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, condition: %v", job.Name, end)
		}
		last, completed := p.Status.LastSuccessfulTime, job.Status.CompletionTime
		if end == batchv1.JobComplete && completed != nil && (last == nil || completed.After(last.Time)) {
			p.Status.LastSuccessfulTime = completed
		}
	}
	for _, job := range slices.Clone(p.Status.Active) {
		if o.Missing[job.UID] {
			p.report(corev1.EventTypeNormal, "MissingJob", "Active job went missing: %v", job.Name)
			p.drop(job.UID)
		}
	}
}

// schedule decides whether a Job is due.
func (p *Plan) schedule(o *Observed) {
	c := o.CronJob
	if zone := c.Spec.TimeZone; zone != nil {
		if _, err := time.LoadLocation(*zone); err != nil {
			p.report(corev1.EventTypeWarning, "UnknownTimeZone", "invalid timeZone: %q: %s", *zone, err)
			return
		}
	}
	if ptr.Deref(c.Spec.Suspend, false) {
		return
	}
	if namesZone(c.Spec.Schedule) {
		p.report(corev1.EventTypeWarning, "UnsupportedSchedule", "CRON_TZ or TZ used in schedule %q is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", c.Spec.Schedule)
	}
	schedule, err := parse(c)
	if err != nil {
		p.report(corev1.EventTypeWarning, "UnparseableSchedule", "unparseable schedule: %q : %s", c.Spec.Schedule, err)
		return
	}
	found, err := look(c, schedule, o.Now, true)
	if err != nil {
		p.report(corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule: %s : %s", c.Spec.Schedule, err)
		return
	}
	if !found.latest.IsZero() {
		if found.missed > manyMissed {
			p.report(corev1.EventTypeWarning, "TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
		}
		p.start(o, found.latest)
	}
	p.CheckAfter = max(untilNext(c, schedule, o.Now), time.Millisecond)
}

// start decides whether the Job of a time is made.
func (p *Plan) start(o *Observed, at time.Time) {
	c := o.CronJob
	named := func(job corev1.ObjectReference) bool {
		return job.Name == JobName(c, at) && job.Namespace == c.Namespace
	}
	last := p.Status.LastScheduleTime
	switch seconds := c.Spec.StartingDeadlineSeconds; {
	case seconds != nil && at.Add(time.Duration(*seconds)*time.Second).Before(o.Now):
		p.report(corev1.EventTypeWarning, "MissSchedule", "Missed scheduled time to start a job: %s", at.UTC().Format(time.RFC1123Z))
	case slices.ContainsFunc(p.Status.Active, named) || last != nil && last.Time.Equal(at):
	case c.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(p.Status.Active) > 0:
		p.report(corev1.EventTypeNormal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
	default:
		p.Start = at
		if c.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent {
			p.Replace = slices.Clone(p.Status.Active)
		}
	}
}
