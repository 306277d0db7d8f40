package cluster

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Clock is a clock for Options.Clock that goes on as real time does, and that a test moves besides. Safe for concurrent use.
//
// Time never goes back. What waits for a moment that a step passes is told at once, the earliest first; a ticker that missed several
// ticks gives one, as it does whose reader is slow.
type Clock struct {
	mu      sync.Mutex
	ahead   time.Duration // of real time
	waiting waiters
}

var _ clock.WithTickerAndDelayedExecution = (*Clock)(nil)

// NewClock is a clock that shows start now; the zero time: the real one.
func NewClock(start time.Time) *Clock {
	c := &Clock{}
	if !start.IsZero() {
		c.ahead = time.Until(start)
	}
	return c
}

// Step moves the clock forward. It panics when d is below 0.
func (c *Clock) Step(d time.Duration) {
	if d < 0 {
		panic("a cluster's clock does not go back")
	}
	c.mu.Lock()
	c.ahead += d
	now := c.now()
	for _, w := range c.waiting {
		w.alarm.Reset(w.at.Sub(now))
	}
	c.mu.Unlock()
	c.tell()
}

// tell tells those whose moment has come.
func (c *Clock) tell() {
	c.mu.Lock()
	now := c.now()
	var due []*waiter
	for len(c.waiting) > 0 && !c.waiting[0].at.After(now) {
		w := c.waiting[0]
		due = append(due, w)
		if w.every > 0 {
			w.at = now.Add(w.every)
			w.alarm.Reset(w.every)
			heap.Fix(&c.waiting, 0)
		} else {
			c.remove(w)
		}
	}
	c.mu.Unlock()
	for _, w := range due {
		w.fire(now)
	}
}

func (c *Clock) now() time.Time { return time.Now().Add(c.ahead) }

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Since is how long ago a time was.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// After gives a channel that receives once d has passed.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// Sleep returns once d has passed.
func (c *Clock) Sleep(d time.Duration) { <-c.After(d) }

// Tick is a ticker that nobody stops.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.NewTicker(d).C() }

// NewTimer gives a timer whose channel receives once d has passed.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	w := &waiter{clock: c, c: make(chan time.Time, 1)}
	c.wait(w, d)
	return w
}

// AfterFunc calls f in a goroutine of its own once d has passed.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	w := &waiter{clock: c, f: f}
	c.wait(w, d)
	return w
}

// NewTicker gives a ticker. It panics unless d is above 0.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic("a ticker needs an interval above 0")
	}
	w := &waiter{clock: c, c: make(chan time.Time, 1), every: d}
	c.wait(w, d)
	return ticker{w}
}

// wait has a waiter wait, and says whether it did already.
func (c *Clock) wait(w *waiter, d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	waited := w.waits
	c.remove(w)
	w.at, w.waits = c.now().Add(d), true
	heap.Push(&c.waiting, w)
	w.alarm = time.AfterFunc(d, c.tell)
	return waited
}

// remove has a waiter wait no more. The caller holds mu.
func (c *Clock) remove(w *waiter) {
	if w.waits {
		w.waits = false
		w.alarm.Stop()
		heap.Remove(&c.waiting, w.index)
	}
}

// waiter waits for a moment: a timer, or a ticker's next tick. The clock's mu guards what changes.
type waiter struct {
	clock *Clock
	c     chan time.Time
	f     func()
	every time.Duration // 0: once

	at    time.Time
	alarm *time.Timer // wakes the clock when real time comes to the moment
	waits bool
	index int
}

func (w *waiter) fire(now time.Time) {
	if w.f != nil {
		go w.f()
		return
	}
	select {
	case w.c <- now:
	default: // the last one was not taken yet
	}
}

// C is the channel that receives.
func (w *waiter) C() <-chan time.Time { return w.c }

// Stop says whether the timer was still to fire.
func (w *waiter) Stop() bool {
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	waited := w.waits
	w.clock.remove(w)
	w.drain()
	return waited
}

// Reset has the timer fire once d has passed, and says whether it was still to fire before.
func (w *waiter) Reset(d time.Duration) bool {
	w.clock.mu.Lock()
	w.drain()
	w.clock.mu.Unlock()
	return w.clock.wait(w, d)
}

// drain takes back what was sent and not received, as the timers of package time do.
func (w *waiter) drain() {
	select {
	case <-w.c:
	default:
	}
}

type ticker struct{ w *waiter }

// C is the channel that receives.
func (t ticker) C() <-chan time.Time { return t.w.c }

// Stop ends the ticker.
func (t ticker) Stop() { t.w.Stop() }

// waiters is a heap, the earliest first.
type waiters []*waiter

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].at.Before(w[j].at) }
func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

// Push adds a waiter.
func (w *waiters) Push(x any) {
	last := x.(*waiter)
	last.index = len(*w)
	*w = append(*w, last)
}

// Pop takes the last one.
func (w *waiters) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
