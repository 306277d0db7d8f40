package podworker

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

func start(t *testing.T, sync func(ctx context.Context, uid types.UID) time.Duration) *Pool {
	t.Helper()
	pool := New(Options{Clock: clock.RealClock{}, Sync: sync})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- pool.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return pool
}

func TestTriggersWhileRunningGiveOneMoreRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		release := make(chan struct{})
		pool := start(t, func(context.Context, types.UID) time.Duration {
			if runs.Add(1) == 1 {
				<-release
			}
			return 0
		})
		pool.Trigger("a")
		synctest.Wait()
		for range 5 {
			pool.Trigger("a")
		}
		close(release)
		synctest.Wait()
		if got := runs.Load(); got != 2 {
			t.Errorf("runs = %d, want 2", got)
		}
		if len(pool.pods) != 0 {
			t.Errorf("an idle pod kept its worker")
		}
	})
}

func TestSyncAsksToBeCalledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		pool := start(t, func(context.Context, types.UID) time.Duration {
			if runs.Add(1) < 3 {
				return time.Minute
			}
			return 0
		})
		pool.Trigger("a")
		<-time.After(10 * time.Minute)
		if got := runs.Load(); got != 3 {
			t.Errorf("runs = %d, want 3", got)
		}
	})
}

func TestInterruptEndsTheRunUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		pool := start(t, func(ctx context.Context, _ types.UID) time.Duration {
			if runs.Add(1) == 1 {
				<-ctx.Done()
			}
			return 0
		})
		pool.Trigger("a")
		synctest.Wait()
		pool.Interrupt("a")
		synctest.Wait()
		if got := runs.Load(); got != 2 {
			t.Errorf("runs = %d, want 2", got)
		}
	})
}

func TestForgetDropsTheTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		pool := start(t, func(context.Context, types.UID) time.Duration { runs.Add(1); return time.Second })
		pool.Trigger("a")
		synctest.Wait()
		pool.Forget("a")
		<-time.After(time.Minute)
		if got := runs.Load(); got != 1 {
			t.Errorf("runs = %d, want 1", got)
		}
	})
}
