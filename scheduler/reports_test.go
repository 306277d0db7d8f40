package scheduler

import (
	"slices"
	"testing"
	"testing/synctest"
)

// TestReports: while one is being written, of those that come only the last is; nothing is
// written once the pod's reports are settled.
func TestReports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReports()
		var written []string
		gate := make(chan struct{})
		note := func(text string) func() {
			return func() {
				written = append(written, text)
				<-gate
			}
		}
		go r.add("a", note("first"))()
		synctest.Wait()
		for _, text := range []string{"second", "third"} {
			if work := r.add("a", note(text)); work != nil {
				t.Error("two work on one pod")
			}
		}
		gate <- struct{}{}
		synctest.Wait()
		r.add("a", note("late"))
		settled := make(chan struct{})
		go func() {
			r.settle("a")
			close(settled)
		}()
		synctest.Wait()
		select {
		case <-settled:
			t.Error("settled while something is being written")
		default:
		}
		gate <- struct{}{}
		<-settled
		r.settle("a")
		if want := []string{"first", "third"}; !slices.Equal(written, want) {
			t.Errorf("written %v, want %v", written, want)
		}
	})
}
