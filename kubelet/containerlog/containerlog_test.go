package containerlog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const stamp = "2026-01-01T00:00:%02d.000000000Z "

// logFile writes lines "stream tag text", one a second.
func logFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "0.log")
	var out strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&out, stamp+"%s\n", i, line)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func number(n int64) *int64 { return &n }

func TestCopy(t *testing.T) {
	t.Parallel()
	path := logFile(t, "stdout F one", "stderr F two", "stdout P thr", "stdout F ee", "stdout F four")
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	for _, test := range []struct {
		name    string
		options Options
		stdout  string
		stderr  string
	}{
		{"all", Options{}, "one\nthree\nfour\n", "two\n"},
		{"since", Options{Since: at(3)}, "ee\nfour\n", ""},
		{"tail", Options{Tail: number(1)}, "four\n", ""},
		{"tail of more than there is", Options{Tail: number(9)}, "one\nthree\nfour\n", "two\n"},
		{"no tail", Options{Tail: number(0)}, "", ""},
		{"times", Options{Timestamps: true, Tail: number(3)}, "2026-01-01T00:00:02.000000000Z three\n2026-01-01T00:00:04.000000000Z four\n", ""},
		{"limit", Options{Limit: number(6)}, "on" + "e\n", "tw"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			test.options.Stdout, test.options.Stderr = &stdout, &stderr
			if err := New(slog.New(slog.DiscardHandler)).Copy(t.Context(), path, test.options); err != nil {
				t.Fatal(err)
			}
			if stdout.String() != test.stdout || stderr.String() != test.stderr {
				t.Errorf("stdout = %q, stderr = %q", stdout.String(), stderr.String())
			}
		})
	}
}

func TestOneStream(t *testing.T) {
	t.Parallel()
	path := logFile(t, "stdout F one", "garbage", "stderr F two")
	var out bytes.Buffer
	if err := New(slog.New(slog.DiscardHandler)).Copy(t.Context(), path, Options{Stderr: &out}); err != nil || out.String() != "two\n" {
		t.Errorf("out = %q, err = %v", out.String(), err)
	}
}

// output can be waited for.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer close(o.grown)
	defer func() { o.grown = make(chan struct{}) }()
	return o.text.Write(p)
}

func (o *output) await(t *testing.T, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		o.mu.Lock()
		got, grown := o.text.String(), o.grown
		o.mu.Unlock()
		if got == want {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func appendLine(t *testing.T, path, line string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(file, stamp+"%s", 59, line); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFollowAcrossRotationToTheEnd(t *testing.T) {
	t.Parallel()
	path := logFile(t, "stdout F one")
	out := &output{grown: make(chan struct{})}
	ended := make(chan struct{})
	running := func(context.Context) (bool, error) {
		select {
		case <-ended:
			return false, nil
		default:
			return true, nil
		}
	}
	logs := New(slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() {
		done <- logs.Copy(t.Context(), path, Options{Follow: true, Stdout: out, Stderr: out, Running: running})
	}()
	out.await(t, "one\n")
	appendLine(t, path, "stdout F two\n")
	out.await(t, "one\ntwo\n")
	if err := os.Rename(path, path+".20260101"); err != nil {
		t.Fatal(err)
	}
	appendLine(t, path, "stdout F three\n")
	out.await(t, "one\ntwo\nthree\n")
	appendLine(t, path, "stdout F four") // cut off by the container's end
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	out.await(t, "one\ntwo\nthree\nfour")
	if logs.notifier.file != nil || len(logs.notifier.watches) > 0 {
		t.Error("a watch is left")
	}
}

func TestTailOffsetAcrossBlocks(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1000) + "\n"
	text := strings.Repeat(line, 100)
	for n := range int64(100) {
		got, err := tailOffset(strings.NewReader(text), int64(len(text)), n)
		if want := int64(len(text)) - n*int64(len(line)); err != nil || got != want {
			t.Fatalf("last %d lines begin at %d, %v; want %d", n, got, err, want)
		}
	}
}
