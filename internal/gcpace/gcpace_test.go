package gcpace

import (
	"runtime"
	"testing"
	"time"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, tt := range []struct {
		name    string
		live    uint64
		since   time.Duration
		room    uint64
		percent int
	}{
		{"just begun", 0, 0, 128 * mib, 12800},
		{"small and hot", 16 * mib, 100 * time.Millisecond, 128 * mib, 800},
		{"middling and hot", 150 * mib, 400 * time.Millisecond, 300 * mib, 200},
		{"large and hot", 400 * mib, 400 * time.Millisecond, 640 * mib, 160},
		{"huge and hot", 2_000 * mib, 400 * time.Millisecond, 2_000 * mib, 100},
		{"small and busy", 16 * mib, time.Second, 64 * mib, 400},
		{"middling and busy", 100 * mib, time.Second, 100 * mib, 100},
		{"large and busy", 400 * mib, time.Second, 192 * mib, 48},
		{"huge and busy", 9_000 * mib, time.Second, 3_000 * mib, 33},
		{"small and idle", 20 * mib, time.Minute, 16 * mib, 80},
		{"middling and idle", 100 * mib, time.Minute, 50 * mib, 50},
		{"large and idle", 400 * mib, time.Minute, 64 * mib, 16},
		{"huge and idle", 8_000 * mib, time.Minute, 1_000 * mib, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := room(tt.live, tt.since)
			if got != tt.room || percent(tt.live, got) != tt.percent {
				t.Errorf("room of %d bytes, %d %%; want %d, %d %%", got, percent(tt.live, got), tt.room, tt.percent)
			}
		})
	}
}

func TestCollected(t *testing.T) {
	t.Parallel()
	done := collected()
	runtime.GC()
	select {
	case <-done:
	case <-t.Context().Done():
		t.Error("a collection went by unseen")
	}
	if live() == 0 {
		t.Error("nothing lives")
	}
}
