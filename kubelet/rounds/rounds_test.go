package rounds

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// diary notes when its tasks were called.
type diary struct {
	began time.Time
	mu    sync.Mutex
	calls map[string][]time.Duration
}

func (d *diary) task(name string, every time.Duration) func(context.Context) time.Duration {
	return func(context.Context) time.Duration {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.calls[name] = append(d.calls[name], time.Since(d.began))
		return every
	}
}

func (d *diary) expect(t *testing.T, name string, want ...time.Duration) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.calls[name], want) {
		t.Errorf("%s was called at %v, want %v", name, d.calls[name], want)
	}
}

func run(t *testing.T, workers int, test func(ctx context.Context, r *Rounds, d *diary)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, d := New(clock.RealClock{}), &diary{began: time.Now(), calls: map[string][]time.Duration{}}
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx, workers) }()
		test(ctx, r, d)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// later lets fake time pass.
func later(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestEachTaskHasItsOwnPace(t *testing.T) {
	run(t, 2, func(ctx context.Context, r *Rounds, d *diary) {
		r.Add(ctx, d.task("slow", 3*time.Second))
		r.Add(ctx, d.task("quick", 2*time.Second))
		later(5 * time.Second)
		d.expect(t, "slow", 0, 3*time.Second)
		d.expect(t, "quick", 0, 2*time.Second, 4*time.Second)
	})
}

func TestTouchedIsDueNow(t *testing.T) {
	run(t, 1, func(ctx context.Context, r *Rounds, d *diary) {
		task := r.Add(ctx, d.task("a", time.Hour))
		later(time.Second)
		task.Touch()
		later(time.Second)
		d.expect(t, "a", 0, time.Second)
	})
}

func TestTouchedWhileItRunsIsCalledAgain(t *testing.T) {
	run(t, 1, func(ctx context.Context, r *Rounds, d *diary) {
		var task *Task
		begun := make(chan struct{})
		note := d.task("a", time.Hour)
		task = r.Add(ctx, func(ctx context.Context) time.Duration {
			defer note(ctx)
			<-begun
			return time.Hour
		})
		synctest.Wait()
		task.Touch()
		close(begun)
		later(time.Second)
		d.expect(t, "a", 0, 0)
	})
}

func TestRemovedIsCalledNoMore(t *testing.T) {
	run(t, 1, func(ctx context.Context, r *Rounds, d *diary) {
		task := r.Add(ctx, d.task("a", time.Second))
		own, cancel := context.WithCancel(ctx)
		r.Add(own, d.task("b", time.Second))
		later(1500 * time.Millisecond)
		task.Remove()
		task.Touch()
		cancel()
		later(10 * time.Second)
		d.expect(t, "a", 0, time.Second)
		d.expect(t, "b", 0, time.Second)
	})
}

func TestOnceAfterADelay(t *testing.T) {
	run(t, 1, func(ctx context.Context, r *Rounds, d *diary) {
		note := d.task("a", 0)
		r.After(ctx, 2*time.Second, func(ctx context.Context) { note(ctx) })
		later(time.Second)
		d.expect(t, "a")
		r.After(ctx, 2*time.Second, func(ctx context.Context) { note(ctx) }).Remove()
		later(time.Minute)
		d.expect(t, "a", 2*time.Second)
	})
}

func TestNeverMoreAtOnceThanWorkers(t *testing.T) {
	run(t, 2, func(ctx context.Context, r *Rounds, d *diary) {
		for range 4 {
			note := d.task("a", time.Hour)
			r.Add(ctx, func(ctx context.Context) time.Duration {
				note(ctx)
				<-time.After(time.Second)
				return time.Hour
			})
		}
		later(5 * time.Second)
		d.expect(t, "a", 0, 0, time.Second, time.Second)
	})
}
