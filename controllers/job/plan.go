package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Plan is what to do about one Job in one pass, before its status is settled.
type Plan struct {
	// Verdict is the condition by which the Job ends, if it does: FailureTarget,
	// SuccessCriteriaMet, or Failed where the status has FailureTarget already.
	Verdict *batchv1.JobCondition
	// Create has the index of each pod to make; NoIndex where the Job has no indexes.
	Create []int
	// Delete are pods to delete. Those of a Job that goes on are let go uncounted; of one
	// that ends, each is counted as its end is seen.
	Delete []*corev1.Pod
	// Uncounted says that the pods to delete lose their finalizer first.
	Uncounted bool
	// Managed says that the number of pods was looked after.
	Managed bool
	// Backoff is that after the pods that ended up to now.
	Backoff Backoff
	// CheckAfter is when time alone may change the plan; zero: it won't.
	CheckAfter time.Duration

	// replaced has, by index, the failed pod that the next pod of that index follows.
	replaced map[int]*corev1.Pod
	// succeeded is how many pods, or indexes, have succeeded.
	succeeded int32
	// before and done are the succeeded indexes in the status, and now.
	before, done Indexes
	// given are the failed indexes; nil where they aren't told apart.
	given *Indexes
}

// Decide works out one pass. It changes nothing that it is given.
func Decide(o Observed) Plan {
	succeeded, fallen := o.ended()
	status := o.Job.Status
	uncounted := ptr.Deref(status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	plan := Plan{Backoff: o.Backoff.after(succeeded, fallen)}
	plan.succeeded = status.Succeeded + int32(len(succeeded)+len(uncounted.Succeeded))
	failures := status.Failed + int32(len(uncounted.Failed)) + count(fallen, func(pod *corev1.Pod) bool {
		return judge(o.Job.Spec.PodFailurePolicy, pod).counts()
	})
	if indexed(o.Job) {
		plan.before, plan.done = succeededIndexes(&o)
		plan.succeeded = int32(plan.done.Len())
		if o.Job.Spec.BackoffLimitPerIndex != nil {
			plan.given = ptr.To(failedIndexes(&o))
			plan.replaced = heldBack(&o, plan.done.Union(*plan.given))
		}
	}
	plan.Verdict = plan.verdict(&o, failures)
	plan.watchDeadline(&o)
	switch {
	case plan.Verdict != nil:
		plan.Delete = o.active()
	case o.Job.DeletionTimestamp == nil:
		plan.Managed = true
		plan.manage(&o)
	}
	return plan
}

// watchDeadline has the Job looked at again when its time is up.
func (p *Plan) watchDeadline(o *Observed) {
	if p.Verdict == nil && o.Job.Spec.ActiveDeadlineSeconds != nil && !suspended(o.Job) {
		p.checkAfter(deadline(o).Sub(o.Now))
	}
}

func (p *Plan) checkAfter(wait time.Duration) {
	if wait = max(wait, time.Millisecond); p.CheckAfter == 0 || wait < p.CheckAfter {
		p.CheckAfter = wait
	}
}

// startTime is when the Job started, or now if it starts in this pass.
func startTime(o *Observed) *metav1.Time {
	if o.Job.Status.StartTime == nil && !suspended(o.Job) {
		return &metav1.Time{Time: o.Now}
	}
	return o.Job.Status.StartTime
}

func deadline(o *Observed) time.Time {
	return startTime(o).Add(time.Duration(*o.Job.Spec.ActiveDeadlineSeconds) * time.Second)
}

// manage works out which pods to make or to delete. One pass does one or the other.
func (p *Plan) manage(o *Observed) {
	active := o.active()
	if suspended(o.Job) {
		p.Delete, p.Uncounted = surplus(o.Job, active, len(active)), true
		return
	}
	wanted := p.wanted(o.Job, len(active))
	if excess := surplus(o.Job, active, max(0, len(active)-wanted)); len(excess) > 0 {
		p.Delete, p.Uncounted = excess[:min(len(excess), podcontrol.Burst)], true
		return
	}
	missing := wanted - len(active)
	if onlyFailedAreReplaced(o.Job) {
		missing -= len(o.terminating())
	}
	if missing > 0 {
		p.create(o, min(missing, podcontrol.Burst))
	}
}

// wanted is how many pods should run at the moment.
func (p *Plan) wanted(job *batchv1.Job, active int) int {
	parallelism := int(*job.Spec.Parallelism)
	switch {
	case job.Spec.Completions != nil:
		return max(0, min(parallelism, int(*job.Spec.Completions-p.succeeded)))
	case p.succeeded > 0:
		// One of them has said that the work is done; the others may finish.
		return active
	}
	return parallelism
}

func (p *Plan) create(o *Observed, missing int) {
	if o.Job.Spec.BackoffLimitPerIndex == nil {
		if wait := p.Backoff.remaining(o.Now); wait > 0 {
			p.checkAfter(wait)
			return
		}
	}
	if !indexed(o.Job) {
		for range missing {
			p.Create = append(p.Create, NoIndex)
		}
		return
	}
	taken := p.done.Union(indexesOf(o.active()))
	if onlyFailedAreReplaced(o.Job) {
		taken = taken.Union(indexesOf(o.terminating()))
	}
	if p.given != nil {
		taken = taken.Union(*p.given)
	}
	var shortest time.Duration
	for _, index := range taken.FirstMissing(missing, int(*o.Job.Spec.Completions)) {
		if wait := remainingFor(o, p.replaced[index]).remaining(o.Now); wait == 0 {
			p.Create = append(p.Create, index)
		} else if shortest == 0 || wait < shortest {
			shortest = wait
		}
	}
	if shortest > 0 {
		p.checkAfter(shortest)
	}
}

// readyOf is how many of the pods are ready.
func readyOf(pods []*corev1.Pod) int32 { return count(pods, podstate.Ready) }
