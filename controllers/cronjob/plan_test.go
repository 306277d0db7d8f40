package cronjob

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// created is half a minute after a full hour.
var created = time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)

func testCronJob(changes ...func(*batchv1.CronJob)) *batchv1.CronJob {
	c := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", CreationTimestamp: metav1.NewTime(created)},
		Spec:       batchv1.CronJobSpec{Schedule: "*/5 * * * *", ConcurrencyPolicy: batchv1.AllowConcurrent},
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

func with(schedule string) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.Schedule = schedule }
}
func zone(name string) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.TimeZone = &name }
}
func policy(p batchv1.ConcurrencyPolicy) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) {
		c.Spec.ConcurrencyPolicy = p
		c.Status.Active = []corev1.ObjectReference{{Name: "old", Namespace: "ns", UID: "old"}}
	}
}
func served(at time.Time) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Status.LastScheduleTime = &metav1.Time{Time: at} }
}
func within(seconds int64) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.StartingDeadlineSeconds = &seconds }
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	at := func(hour, minute, second int) time.Time {
		return time.Date(2026, 3, 1, hour, minute, second, 0, time.UTC)
	}
	for name, c := range map[string]struct {
		cronJob *batchv1.CronJob
		now     time.Time
		start   string
		replace int
		reports string
		after   time.Duration
	}{
		"not yet":              {testCronJob(), at(12, 4, 0), "", 0, "[]", time.Minute + margin},
		"due":                  {testCronJob(), at(12, 5, 0), "12:05", 0, "[]", 5*time.Minute + margin},
		"late":                 {testCronJob(), at(12, 7, 0), "12:05", 0, "[]", 3*time.Minute + margin},
		"served":               {testCronJob(served(at(12, 5, 0))), at(12, 7, 0), "", 0, "[]", 3*time.Minute + margin},
		"only the latest":      {testCronJob(), at(13, 1, 0), "13:00", 0, "[]", 4*time.Minute + margin},
		"many missed":          {testCronJob(), at(23, 59, 0), "23:55", 0, "[TooManyMissedTimes]", time.Minute + margin},
		"too late":             {testCronJob(within(60)), at(12, 7, 0), "", 0, "[]", 3*time.Minute + margin},
		"every 7 minutes":      {testCronJob(with("@every 7m")), at(12, 15, 0), "12:14", 0, "[]", 6*time.Minute + 30*time.Second + margin},
		"in a zone":            {testCronJob(with("0 14 * * *"), zone("Europe/Berlin")), at(13, 0, 0), "13:00", 0, "[]", 24*time.Hour + margin},
		"in no zone":           {testCronJob(zone("Mars/Base")), at(13, 0, 0), "", 0, "[UnknownTimeZone]", 0},
		"with a zone in it":    {testCronJob(with("TZ=UTC */5 * * * *")), at(12, 5, 0), "12:05", 0, "[UnsupportedSchedule]", 5*time.Minute + margin},
		"no schedule":          {testCronJob(with("hourly")), at(13, 0, 0), "", 0, "[UnparseableSchedule]", 0},
		"a panicking schedule": {testCronJob(with("TZ=0")), at(13, 0, 0), "", 0, "[UnsupportedSchedule UnparseableSchedule]", 0},
		"never":                {testCronJob(with("59 23 31 2 *")), at(13, 0, 0), "", 0, "[InvalidSchedule]", 0},
		"suspended":            {testCronJob(func(c *batchv1.CronJob) { c.Spec.Suspend = ptr.To(true) }), at(12, 5, 0), "", 0, "[]", 0},
		"allowed":              {testCronJob(policy(batchv1.AllowConcurrent)), at(12, 5, 0), "12:05", 0, "[]", 5*time.Minute + margin},
		"forbidden":            {testCronJob(policy(batchv1.ForbidConcurrent)), at(12, 5, 0), "", 0, "[JobAlreadyActive]", 5*time.Minute + margin},
		"replaced":             {testCronJob(policy(batchv1.ReplaceConcurrent)), at(12, 5, 0), "12:05", 1, "[]", 5*time.Minute + margin},
		"being deleted":        {testCronJob(func(c *batchv1.CronJob) { c.DeletionTimestamp = &metav1.Time{} }), at(12, 5, 0), "", 0, "[]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(Observed{CronJob: c.cronJob, Now: c.now})
			start := ""
			if !plan.Start.IsZero() {
				start = plan.Start.UTC().Format("15:04")
			}
			reasons := []string{}
			for _, r := range plan.Reports {
				reasons = append(reasons, r.Reason)
			}
			if start != c.start || len(plan.Replace) != c.replace || fmt.Sprint(reasons) != c.reports || plan.CheckAfter != c.after {
				t.Errorf("starts %q, replaces %d, reports %v, after %s", start, len(plan.Replace), plan.Reports, plan.CheckAfter)
			}
		})
	}
}

func testJob(name string, end batchv1.JobConditionType, started int) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}}
	if started > 0 {
		job.Status.StartTime = &metav1.Time{Time: created.Add(time.Duration(started) * time.Minute)}
	}
	if end != "" {
		job.Status.Conditions = []batchv1.JobCondition{{Type: end, Status: corev1.ConditionTrue}}
		job.Status.CompletionTime = &metav1.Time{Time: created.Add(time.Duration(started+1) * time.Minute)}
	}
	return job
}

func TestJobs(t *testing.T) {
	t.Parallel()
	c := testCronJob(func(c *batchv1.CronJob) {
		c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = ptr.To[int32](1), ptr.To[int32](0)
		for _, name := range []string{"second", "runs", "gone"} {
			c.Status.Active = append(c.Status.Active, corev1.ObjectReference{Name: name, Namespace: "ns", UID: types.UID(name)})
		}
	})
	plan := Decide(Observed{CronJob: c, Now: created, Missing: map[types.UID]bool{"gone": true}, Jobs: []*batchv1.Job{
		testJob("second", batchv1.JobComplete, 2), testJob("first", batchv1.JobComplete, 1), testJob("failed", batchv1.JobFailed, 3),
		testJob("runs", "", 4), testJob("strange", "", 4),
	}})
	var expired []string
	for _, job := range plan.Expired {
		expired = append(expired, job.Name)
	}
	if fmt.Sprint(expired) != "[first failed]" {
		t.Errorf("expired %v", expired)
	}
	want := "[{Normal SawCompletedJob Saw completed job: second, condition: Complete} {Warning UnexpectedJob Saw a job that the controller did not create or forgot: strange} " +
		"{Normal MissingJob Active job went missing: gone}]"
	if got := fmt.Sprint(plan.Reports); got != want {
		t.Errorf("reports %s", got)
	}
	if len(plan.Status.Active) != 1 || plan.Status.Active[0].Name != "runs" || !plan.Status.LastSuccessfulTime.Time.Equal(created.Add(3*time.Minute)) {
		t.Errorf("status %+v", plan.Status)
	}
}

func TestNewJob(t *testing.T) {
	t.Parallel()
	c := testCronJob(zone("Europe/Berlin"), func(c *batchv1.CronJob) { c.UID = "uid" })
	job, err := NewJob(c, time.Unix(1772366700, 0))
	if err != nil {
		t.Fatal(err)
	}
	if job.Name != "c-29539445" || job.Annotations[batchv1.CronJobScheduledTimestampAnnotation] != "2026-03-01T13:05:00+01:00" || !metav1.IsControlledBy(job, c) {
		t.Errorf("job %+v", job.ObjectMeta)
	}
}
