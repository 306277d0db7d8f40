package backup_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/cluster"
	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
	"github.com/kogge-dev/kogge/examples/backup/suite"
)

// TestWeek goes by at once: each night at three a copy is made.
func TestWeek(t *testing.T) {
	t.Parallel()
	clock := cluster.NewClock(time.Date(2030, 1, 7, 2, 30, 0, 0, time.UTC))
	s := suite.Start(t, start(t, cluster.Options{Clock: clock}))
	b := suite.Backup(s.Namespace(t), "nightly")
	b.Spec.PodAnnotations = suite.EndsAtOnce
	s.Reconciled(t, b)
	s.Condition(t, b, v1.ConditionCopied, metav1.ConditionTrue)
	for night := range 7 {
		clock.Step(time.Hour)
		copied(t, s, b, time.Date(2030, 1, 7+night, 3, 0, 0, 0, time.UTC))
		clock.Step(23 * time.Hour)
	}
}

// copied waits until the copy of a night is complete.
func copied(t *testing.T, s *suite.Suite, b *v1.Backup, night time.Time) {
	t.Helper()
	suite.Eventually(t, "the copy of "+night.Format(time.DateOnly), func() error {
		c := &batchv1.CronJob{}
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(b), c); err != nil {
			return err
		}
		if c.Status.LastScheduleTime == nil || !c.Status.LastScheduleTime.Time.Equal(night) || c.Status.LastSuccessfulTime == nil || c.Status.LastSuccessfulTime.Time.Before(night) {
			return fmt.Errorf("%+v", c.Status)
		}
		return nil
	})
}
