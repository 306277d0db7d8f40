package faults

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// Set is the faults of one server, and its log of requests. Safe for concurrent use.
type Set struct {
	log *log // nil: none

	active atomic.Pointer[[]*Injection] // nil: none

	mu      sync.Mutex // guards writing active, and what follows
	watches map[*watch]struct{}
}

type watch struct {
	request Request
	cancel  context.CancelFunc
}

// New makes a set that keeps the last requests; 0: none.
func New(requests int) *Set {
	s := &Set{watches: map[*watch]struct{}{}}
	if requests > 0 {
		s.log = &log{limit: requests}
	}
	return s
}

// Add puts a fault in force. Of several that concern a request the one added first falls on it.
func (s *Set) Add(f Fault) *Injection {
	i := &Injection{fault: f, set: s}
	s.change(func(now []*Injection) []*Injection { return append(now, i) })
	return i
}

func (s *Set) remove(i *Injection) {
	s.change(func(now []*Injection) []*Injection {
		return slices.DeleteFunc(now, func(x *Injection) bool { return x == i })
	})
}

// Clear ends all faults.
func (s *Set) Clear() { s.change(func([]*Injection) []*Injection { return nil }) }

func (s *Set) change(edit func([]*Injection) []*Injection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var now []*Injection
	if p := s.active.Load(); p != nil {
		now = slices.Clone(*p)
	}
	if now = edit(now); len(now) == 0 {
		s.active.Store(nil)
		return
	}
	s.active.Store(&now)
}

// DropWatches ends the open watches that match, as a server does that restarts, and says how many.
func (s *Set) DropWatches(m Match) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for w := range s.watches {
		if m.Selects(&w.request) {
			w.cancel()
			n++
		}
	}
	return n
}

// Requests are those that are kept, the oldest first. One without a code is still under way.
func (s *Set) Requests() []Entry {
	if s.log == nil {
		return nil
	}
	return s.log.all()
}

// falling is the fault that a request meets, or nil.
func (s *Set) falling(r *Request) *Fault {
	active := s.active.Load()
	if active == nil {
		return nil
	}
	for _, i := range *active {
		if i.concerns(r) {
			return &i.fault
		}
	}
	return nil
}

// Handler is the set's place in the server's chain.
func (s *Set) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := request.InfoFrom(r.Context())
		watches := i != nil && i.Verb == "watch"
		if s.active.Load() == nil && s.log == nil && !watches {
			next.ServeHTTP(w, r)
			return
		}
		asked := requestOf(r)
		if s.log != nil {
			recorder := &recorder{ResponseWriter: w}
			defer s.log.begin(asked, recorder)()
			w = recorder
		}
		fault := s.falling(&asked)
		if watches {
			ctx, stop := s.watch(r.Context(), asked, fault)
			defer stop()
			r = r.WithContext(ctx)
		}
		if fault == nil {
			next.ServeHTTP(w, r)
			return
		}
		fault.serve(w, r, &asked, next)
	})
}

// watch keeps a watch among those that can be dropped.
func (s *Set) watch(ctx context.Context, r Request, f *Fault) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{request: r, cancel: cancel}
	s.mu.Lock()
	s.watches[w] = struct{}{}
	s.mu.Unlock()
	alarm := time.AfterFunc(time.Hour, cancel)
	alarm.Stop()
	if f != nil && f.EndAfter > 0 {
		alarm.Reset(f.EndAfter)
	}
	return ctx, func() {
		alarm.Stop()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, w)
	}
}

// serve lets a fault fall on a request.
func (f *Fault) serve(w http.ResponseWriter, r *http.Request, asked *Request, next http.Handler) {
	if err := pause(r.Context(), f.Delay); err != nil {
		return // nobody waits for an answer
	}
	switch {
	case f.Error == nil && !f.Drop:
		next.ServeHTTP(w, r)
		return
	case f.Late:
		next.ServeHTTP(&lost{header: http.Header{}}, r)
	}
	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	handlers.Error(w, r, errorOf(f.Error, asked))
}

// pause waits in real time.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errDropped is what a webhook's caller sees of a connection that was dropped.
var errDropped = errors.New("injected: connection reset by peer")

// Callouts is the set's place before the server's calls to webhooks.
func (s *Set) Callouts(next http.RoundTripper) http.RoundTripper { return callouts{s, next} }

type callouts struct {
	set  *Set
	next http.RoundTripper
}

// RoundTrip sends a review unless a fault falls on it.
func (c callouts) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.set.active.Load() == nil {
		return c.next.RoundTrip(r)
	}
	asked := Request{Webhook: r.URL.Host + r.URL.Path, Verb: "post", Path: r.URL.RequestURI()}
	f := c.set.falling(&asked)
	if f == nil {
		return c.next.RoundTrip(r)
	}
	if err := pause(r.Context(), f.Delay); err != nil {
		return nil, err
	}
	switch {
	case f.Drop:
		return nil, errDropped
	case f.Error != nil:
		return nil, errorOf(f.Error, &asked)
	}
	return c.next.RoundTrip(r)
}
