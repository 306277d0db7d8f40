package suite

import (
	"context"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// patience is how long something may take before the test gives up. It is no measure: machines are slow at times.
const patience = time.Minute

// Eventually asks until there is no error.
func Eventually(t *testing.T, what string, ask func() error) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			t.Logf("%s after %v", what, time.Since(start).Round(time.Millisecond))
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never: %v", what, err)
		case <-tick.C:
		}
	}
}

// Gone waits until an object is gone.
func (s *Suite) Gone(t *testing.T, o client.Object) {
	t.Helper()
	Eventually(t, fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error {
		err := s.Get(t.Context(), client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("it is there, with finalizers %v", o.GetFinalizers())
		}
		return err
	})
}

// Condition waits until a Backup's condition has the status.
func (s *Suite) Condition(t *testing.T, b *v1.Backup, condition string, status metav1.ConditionStatus) {
	t.Helper()
	Eventually(t, fmt.Sprintf("Backup %s is %s=%s", b.Name, condition, status), func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if !meta.IsStatusConditionPresentAndEqual(b.Status.Conditions, condition, status) {
			return fmt.Errorf("conditions are %+v", b.Status.Conditions)
		}
		return nil
	})
}
