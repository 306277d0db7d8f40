package guarantees

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// duration of the run, unless GUARANTEES says another.
	duration = 8 * time.Second
	writers  = 6
)

// TestGuarantees holds the recorded history of a server that is killed again and again against all that is promised.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	length := duration
	if text := os.Getenv("GUARANTEES"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), length+2*time.Minute)
	defer cancel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := newServer(t)
	s.start(ctx, t)
	code, answer, err := s.call(ctx, http.MethodPost, "/api/v1/namespaces", "application/json", strings.NewReader(`{"metadata":{"name":"`+namespace+`"}}`))
	if err != nil || code != http.StatusCreated {
		t.Fatalf("%d %s %v", code, answer, err)
	}
	space, err := decode(answer)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	kills := disturb(ctx, t, s, r, length, space.Version, seed)
	truth := truthOf(ctx, t, s, space.Version)
	t.Logf("%d kills, %d writes, %d reads, %d watches", kills, len(r.history.Writes), len(r.history.Reads), watches(&r.history))
	if kills == 0 || len(r.history.Writes) == 0 || len(r.history.Reads) == 0 || watches(&r.history) == 0 {
		t.Error("nothing was tried")
	}
	for _, g := range All() {
		broken := g.Check(&r.history, truth)
		for _, b := range broken[:min(len(broken), 5)] {
			t.Errorf("%s (%d times): %s", g.Name, len(broken), b)
		}
	}
}

func watches(h *History) (n int) {
	h.each(func(*Watch) { n++ })
	return n
}

// disturb lets clients work for a while, kills the server meanwhile, and returns how often.
func disturb(ctx context.Context, t *testing.T, s *server, r *recorder, length time.Duration, from int64, seed uint64) (kills int) {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	var clients sync.WaitGroup
	for i := range writers {
		c := &client{t: t, server: s, record: r, chance: rand.New(rand.NewPCG(seed, uint64(i)))}
		clients.Go(func() { c.run(ctx) })
	}
	for _, c := range watchClients(t, s) {
		clients.Go(func() { r.watched(c.run(ctx, from)) })
	}
	chance := rand.New(rand.NewPCG(seed, writers))
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(200+chance.IntN(1500)) * time.Millisecond):
			s.kill(t)
			kills++
			s.start(t.Context(), t)
		}
	}
	clients.Wait()
	return kills
}

func watchClients(t *testing.T, s *server) (out []*watchClient) {
	for _, kind := range resources {
		for i, filter := range []Filter{{}, {Color: "red"}, {Color: "blue"}, {Name: "o1"}, {Name: "o2", Color: "red"}} {
			out = append(out,
				&watchClient{t: t, server: s, kind: kind, filter: filter, seconds: 3 + i},
				&watchClient{t: t, server: s, kind: kind, filter: filter, seconds: 3, initial: true})
		}
	}
	return out
}

// truthOf asks what is stored in the end, by a watch from the beginning.
func truthOf(ctx context.Context, t *testing.T, s *server, from int64) *Truth {
	t.Helper()
	changes := map[string][]Event{}
	for _, kind := range resources {
		code, answer, err := s.call(ctx, http.MethodGet, kind.path, "", nil)
		if err != nil || code != http.StatusOK {
			t.Fatalf("%d %s %v", code, answer, err)
		}
		_, version, err := decodeList(answer)
		if err != nil {
			t.Fatal(err)
		}
		changes[kind.kind] = allUpTo(ctx, t, s, kind, from, version)
	}
	return NewTruth(changes)
}

// allUpTo watches until a bookmark tells that all up to a version was told.
func allUpTo(ctx context.Context, t *testing.T, s *server, kind resource, from, version int64) []Event {
	t.Helper()
	c := &watchClient{t: t, server: s, kind: kind, seconds: 3, until: version}
	w := Watch{Kind: kind.kind, From: from}
	for ctx.Err() == nil {
		c.once(ctx, &w)
		if n := len(w.Events); n > 0 {
			if last := w.Events[n-1]; last.Type == Bookmark && last.Object.Version >= version {
				return changesOf(w)
			}
			w.From = w.last()
		}
	}
	t.Fatalf("the watch of %s from %d to %d is not complete", kind.kind, from, version)
	return nil
}

func changesOf(w Watch) []Event {
	var events []Event
	for _, e := range w.Events {
		if e.Type != Bookmark {
			events = append(events, e)
		}
	}
	return events
}
