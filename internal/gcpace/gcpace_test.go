package gcpace

import (
	"runtime"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, tt := range []struct {
		name    string
		cycle   cycle
		room    uint64
		percent int
	}{
		{"just begun", cycle{room: 32 * mib, share: 0.2}, 128 * mib, 12800},
		{"small and hot", cycle{live: 20 * mib, room: 40 * mib, share: 0.2}, 128 * mib, 640},
		{"collected in a rest, for long", cycle{live: 2_000 * mib, room: 1 * mib, since: 3 * time.Second, share: 0.2}, 2_000 * mib / 3, 33},
		{"middling and hot", cycle{live: 150 * mib, room: 150 * mib, share: 0.1}, 300 * mib, 200},
		{"large and hot", cycle{live: 400 * mib, room: 400 * mib, share: 0.2}, 1_600 * mib, 400},
		{"large and hot with little work between", cycle{live: 400 * mib, room: 400 * mib, share: 0.5}, 1_600 * mib, 400},
		{"still hot, and right so", cycle{live: 400 * mib, room: 1_600 * mib, share: 0.05, hot: true}, 1_600 * mib, 400},
		{"hot with more than it needs", cycle{live: 400 * mib, room: 1_600 * mib, share: 0.03, hot: true}, 960 * mib, 240},
		{"cool again", cycle{live: 400 * mib, room: 1_600 * mib, share: 0.005, hot: true}, 192 * mib, 48},
		{"huge and hot", cycle{live: 3_000 * mib, room: 3_000 * mib, share: 0.3}, 3_000 * mib, 100},
		{"small and busy", cycle{live: 16 * mib, since: time.Second}, 64 * mib, 400},
		{"middling and busy", cycle{live: 100 * mib, since: time.Second, share: 0.05}, 100 * mib, 100},
		{"large and busy", cycle{live: 400 * mib, since: time.Second}, 192 * mib, 48},
		{"huge and busy", cycle{live: 9_000 * mib, since: time.Second}, 3_000 * mib, 33},
		{"small and idle", cycle{live: 20 * mib, since: time.Minute}, 16 * mib, 80},
		{"middling and idle", cycle{live: 100 * mib, since: time.Minute}, 50 * mib, 50},
		{"large and idle", cycle{live: 400 * mib, since: time.Minute}, 64 * mib, 16},
		{"huge and idle", cycle{live: 8_000 * mib, since: time.Minute}, 1_000 * mib, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.cycle.next(2_000 * mib)
			if got != tt.room || percent(tt.cycle.live, got) != tt.percent {
				t.Errorf("room of %d bytes, %d %%; want %d, %d %%", got, percent(tt.cycle.live, got), tt.room, tt.percent)
			}
		})
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	before := figures{at: at, live: 10, allocated: 100, collected: 1, total: 10}
	got := figures{at: at.Add(time.Second), live: 20, allocated: 400, collected: 1.5, total: 12}.since(before, true)
	if want := (cycle{live: 20, room: 300, since: time.Second, share: 0.25, hot: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := before.since(before, false); got.share != 0 {
		t.Errorf("a share of no time is %v", got.share)
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
	if f := read(); f.live == 0 || f.allocated == 0 || f.total == 0 {
		t.Errorf("the runtime tells %+v", f)
	}
}

func TestMostFor(t *testing.T) {
	t.Parallel()
	if most := mostFor(); most == 0 || most > hotMost {
		t.Errorf("a hot process may get %d bytes", most)
	}
}
