package registry

import (
	"testing"
	"time"
)

func TestNextBookmark(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name     string
		deadline time.Duration // 0: none
		want     time.Duration // 0: never
	}{
		{"no end", 0, time.Minute},
		{"a far end", time.Hour, time.Minute},
		{"before the end", 30 * time.Second, 28 * time.Second},
		{"just before the end", 3 * time.Second, time.Second},
		{"too late", 2 * time.Second, 0},
		{"over", time.Second, 0},
	} {
		var deadline, want time.Time
		if c.deadline != 0 {
			deadline = now.Add(c.deadline)
		}
		if c.want != 0 {
			want = now.Add(c.want)
		}
		if got := nextBookmark(now, deadline); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
