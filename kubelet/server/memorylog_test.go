package server

import (
	"io"
	"testing"
	"time"

	"github.com/kogge-dev/kogge/kubelet/containerlog"
)

func TestLogsInMemory(t *testing.T) {
	t.Parallel()
	written := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	count := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name, text string
		options    containerlog.Options
		want       string
	}{
		{"all", "a\nb\nc\n", containerlog.Options{Stdout: io.Discard}, "a\nb\nc\n"},
		{"nothing", "", containerlog.Options{Stdout: io.Discard, Tail: count(2)}, ""},
		{"the last", "a\nb\nc\n", containerlog.Options{Stdout: io.Discard, Tail: count(2)}, "b\nc\n"},
		{"none", "a\nb\n", containerlog.Options{Stdout: io.Discard, Tail: count(0)}, ""},
		{"more than there are", "a", containerlog.Options{Stdout: io.Discard, Tail: count(9)}, "a"},
		{"bytes", "abc\n", containerlog.Options{Stdout: io.Discard, Limit: count(2)}, "ab"},
		{"times", "a\nb\n", containerlog.Options{Stdout: io.Discard, Timestamps: true}, "2026-01-02T03:04:05Z a\n2026-01-02T03:04:05Z b\n"},
		{"since before", "a\n", containerlog.Options{Stdout: io.Discard, Since: written.Add(-time.Second)}, "a\n"},
		{"since after", "a\n", containerlog.Options{Stdout: io.Discard, Since: written.Add(time.Second)}, ""},
		{"stderr alone", "a\n", containerlog.Options{Stderr: io.Discard}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := memoryLog(c.text, written, c.options); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
