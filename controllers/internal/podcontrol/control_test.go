package podcontrol

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

func TestSlowStart(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	refused := errors.New("refused")
	err := SlowStart(100, func(int) error {
		if calls.Add(1) > 4 {
			return refused
		}
		return nil
	})
	// Batches of 1, 2 and 4: the fifth call is in the third.
	if !errors.Is(err, refused) || calls.Load() != 7 {
		t.Errorf("%d calls, error %v; want 7", calls.Load(), err)
	}
	calls.Store(0)
	if err := SlowStart(11, func(int) error { calls.Add(1); return nil }); err != nil || calls.Load() != 11 {
		t.Errorf("%d calls, error %v; want 11", calls.Load(), err)
	}
}

func TestPodNames(t *testing.T) {
	t.Parallel()
	if got := namePrefix("web"); got != "web-" {
		t.Errorf("got %s", got)
	}
	if long := strings.Repeat("a", 253); namePrefix(long) != long {
		t.Error("a name without room gets a dash")
	}
}
