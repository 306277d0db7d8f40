package batch

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// texts are the errors, one a line, without the values.
func texts(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Field+": "+string(e.Type))
	}
	return strings.Join(out, "\n")
}

// job gives a job that is fine, changed.
func job(change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work", UID: "u"}}
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}
	if change != nil {
		change(&j.Spec)
	}
	defaultJob(j)
	generateSelector(j)
	return j
}

func TestJobsAreDefaulted(t *testing.T) {
	t.Parallel()
	j := job(nil)
	if *j.Spec.Completions != 1 || *j.Spec.Parallelism != 1 || *j.Spec.BackoffLimit != 6 || *j.Spec.PodReplacementPolicy != batchv1.TerminatingOrFailed {
		t.Errorf("defaults: %+v", j.Spec)
	}
	if j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] != "u" || j.Spec.Template.Labels[batchv1.JobNameLabel] != "work" {
		t.Errorf("selector %v, labels %v", j.Spec.Selector, j.Spec.Template.Labels)
	}
	parallel := job(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](3) })
	if parallel.Spec.Completions != nil {
		t.Error("a parallel job that names no completions has none")
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	indexed := func(s *batchv1.JobSpec) {
		s.CompletionMode, s.Completions = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](10)
	}
	for name, c := range map[string]struct {
		change func(*batchv1.JobSpec)
		want   string
	}{
		"fine":                      {nil, ""},
		"pods that never end":       {func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways }, "spec.template.spec.restartPolicy: FieldValueRequired"},
		"counts below 0":            {func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](-1) }, "spec.backoffLimit: FieldValueInvalid"},
		"per index without indexes": {func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) }, "spec.backoffLimitPerIndex: FieldValueInvalid"},
		"indexed":                   {indexed, ""},
		"indexed without completions": {func(s *batchv1.JobSpec) {
			s.CompletionMode, s.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](1)
		},
			"spec.completions: FieldValueRequired"},
		"more indexes may fail than there are": {func(s *batchv1.JobSpec) {
			indexed(s)
			s.BackoffLimitPerIndex, s.MaxFailedIndexes = ptr.To[int32](1), ptr.To[int32](11)
		}, "spec.maxFailedIndexes: FieldValueInvalid"},
		"exit codes out of order": {func(s *batchv1.JobSpec) {
			s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{3, 2, 2}}}}}
		}, "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: FieldValueDuplicate\nspec.podFailurePolicy.rules[0].onExitCodes.values: FieldValueInvalid"},
		"indexes that are too large": {func(s *batchv1.JobSpec) {
			indexed(s)
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1,3-20")}}}
		}, "spec.successPolicy.rules[0].succeededIndexes: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := texts(validateJob(job(c.change))); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestOnlyIdleSuspendedJobsChangeTheirTemplate(t *testing.T) {
	t.Parallel()
	suspended := func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) }
	changed := func(s *batchv1.JobSpec) { suspended(s); s.Template.Spec.NodeSelector = map[string]string{"a": "b"} }
	if got := texts(validateJobUpdate(job(changed), job(suspended))); got != "" {
		t.Errorf("idle: %s", got)
	}
	busy := job(suspended)
	busy.Status.Active = 1
	if got := texts(validateJobUpdate(job(changed), busy)); got != "spec.template: FieldValueInvalid" {
		t.Errorf("busy: %s", got)
	}
}

func TestJobStatus(t *testing.T) {
	t.Parallel()
	at := metav1.Now()
	is := func(types ...batchv1.JobConditionType) (out []batchv1.JobCondition) {
		for _, x := range types {
			out = append(out, batchv1.JobCondition{Type: x, Status: corev1.ConditionTrue})
		}
		return out
	}
	for name, c := range map[string]struct {
		now, was batchv1.JobStatus
		want     string
	}{
		"complete": {now: batchv1.JobStatus{StartTime: &at, CompletionTime: &at, Conditions: is(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)}, was: batchv1.JobStatus{StartTime: &at}},
		"complete without a time": {now: batchv1.JobStatus{StartTime: &at, Conditions: is(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)}, was: batchv1.JobStatus{StartTime: &at},
			want: "status.completionTime: FieldValueRequired"},
		"failed unannounced": {now: batchv1.JobStatus{StartTime: &at, Conditions: is(batchv1.JobFailed)}, was: batchv1.JobStatus{StartTime: &at}, want: "status.conditions: FieldValueInvalid"},
		"fewer failures":     {now: batchv1.JobStatus{Failed: 1}, was: batchv1.JobStatus{Failed: 2}, want: "status.failed: FieldValueInvalid"},
		"no longer failed": {now: batchv1.JobStatus{StartTime: &at, Conditions: is(batchv1.JobFailureTarget)}, was: batchv1.JobStatus{StartTime: &at, Conditions: is(batchv1.JobFailureTarget, batchv1.JobFailed)},
			want: "status.conditions: FieldValueInvalid"},
		"more ready than there are": {now: batchv1.JobStatus{Ready: ptr.To[int32](1)}, want: "status.ready: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, was := job(nil), job(nil)
			now.Status, was.Status = c.now, c.was
			if got := texts(validateJobStatus(now, was)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]int32{"": 0, "1": 1, "0-2,5": 4, "3-3": -1, "2,1": -1, "1-2-3": -1, "x": -1, "10": -1} {
		got, err := countIndexes(list, 10)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d (%v)", list, got, want, err)
		}
	}
	if i, both := overlap("0-2,7", "5,7-9", 10); !both || i != 7 {
		t.Errorf("overlap at %d, %v", i, both)
	}
	if _, both := overlap("0-2", "3-9", 10); both {
		t.Error("lists apart overlap")
	}
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schedule string
		zone     *string
		want     string
	}{
		"fine":               {"*/5 * * * *", ptr.To("Etc/UTC"), ""},
		"none":               {"", nil, "spec.schedule: FieldValueRequired"},
		"not one":            {"nope", nil, "spec.schedule: FieldValueInvalid"},
		"zone in it":         {"TZ=UTC 0 0 * * *", nil, "spec.schedule: FieldValueInvalid"},
		"zone of the host":   {"0 0 * * *", ptr.To("Local"), "spec.timeZone: FieldValueInvalid"},
		"zone up the tree":   {"0 0 * * *", ptr.To("../etc"), "spec.timeZone: FieldValueInvalid"},
		"what panics within": {"CRON_TZ=", nil, "spec.schedule: FieldValueInvalid\nspec.schedule: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &batchv1.CronJobSpec{Schedule: c.schedule, TimeZone: c.zone}
			s.JobTemplate.Spec = job(nil).Spec
			s.JobTemplate.Spec.Selector = nil
			o := &batchv1.CronJob{Spec: *s}
			defaultCronJob(o)
			if got := texts(validateCronJob(&o.Spec, nil)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
