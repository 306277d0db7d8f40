package ttlafterfinished

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	job := func(ttl *int32, kind batchv1.JobConditionType, ago time.Duration) *batchv1.Job {
		return &batchv1.Job{Spec: batchv1.JobSpec{TTLSecondsAfterFinished: ttl}, Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
			{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-ago))}}}}
	}
	deleted := job(ptr.To[int32](0), batchv1.JobComplete, time.Hour)
	deleted.DeletionTimestamp = &metav1.Time{Time: now}
	for name, c := range map[string]struct {
		job     *batchv1.Job
		wait    time.Duration
		limited bool
	}{
		"for ever":      {job(nil, batchv1.JobComplete, time.Hour), 0, false},
		"runs":          {job(ptr.To[int32](5), batchv1.JobSuspended, time.Hour), 0, false},
		"being deleted": {deleted, 0, false},
		"due":           {job(ptr.To[int32](5), batchv1.JobFailed, 5*time.Second), 0, true},
		"overdue":       {job(ptr.To[int32](0), batchv1.JobComplete, time.Hour), 0, true},
		"not yet":       {job(ptr.To[int32](5), batchv1.JobComplete, 2*time.Second), 3 * time.Second, true},
	} {
		if wait, limited := Decide(c.job, now); wait != c.wait || limited != c.limited {
			t.Errorf("%s: %s, %v", name, wait, limited)
		}
	}
}
