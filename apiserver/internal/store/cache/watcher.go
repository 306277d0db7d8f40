package cache

import (
	"context"
	"errors"
	"sync"
)

// queueLimit bounds the events that wait for one watcher.
const queueLimit = 8192

// ErrEnded says that the watcher could not keep up, or that the cache had to begin anew: its client resumes.
var ErrEnded = errors.New("watch ended")

// Watcher receives the changes that its filter selects.
type Watcher struct {
	filter Filter
	since  int64
	// Only touched by the consumer:
	backlog []*Event
	replay  *replay // what comes before the queue; nil: nothing more

	mu    sync.Mutex
	queue []*Event
	ended bool
	wake  chan struct{} // holds a token while the queue may hold something
}

// Watch gives the changes after revision. ErrCompacted from package store means that they are no longer known.
// The caller must call Stop. What memory no longer holds is read from etcd until ctx ends.
func (c *Collection) Watch(ctx context.Context, revision int64, f Filter) (*Watcher, error) {
	w := &Watcher{filter: f, since: revision, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	if c.ended.Load() {
		c.mu.Unlock()
		return nil, ErrEnded
	}
	backlog, kept := c.ring.since(revision)
	upTo := c.revision
	if kept {
		w.backlog = w.selected(backlog)
	} else {
		w.since = upTo
	}
	c.watchers.add(w)
	c.mu.Unlock()
	if kept {
		return w, nil
	}
	w.replay = c.replay(ctx, revision, upTo)
	if err := w.readReplay(ctx); err != nil {
		c.Stop(w)
		return nil, err
	}
	return w, nil
}

// Stop ends the watcher.
func (c *Collection) Stop(w *Watcher) {
	if w.replay != nil {
		w.replay.cancel()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers.remove(w)
}

func (w *Watcher) selected(events []*Event) []*Event {
	var out []*Event
	for _, e := range events {
		if w.selects(e) {
			out = append(out, e)
		}
	}
	return out
}

func (w *Watcher) selects(e *Event) bool {
	return w.filter.Matches(e.Entry) || w.filter.Matches(e.Previous)
}

// Replaying says whether changes from before the watch began are still being read: what is known of the present is then no
// account of what the watcher was told.
func (w *Watcher) Replaying() bool { return w.replay != nil || len(w.backlog) > 0 }

// Next waits for changes and returns all that there are. It returns ErrEnded when the watcher was ended, and ctx's error only while
// nothing is at hand.
func (w *Watcher) Next(ctx context.Context) ([]*Event, error) {
	for len(w.backlog) == 0 && w.replay != nil {
		if err := w.readReplay(ctx); err != nil {
			return nil, err
		}
	}
	if len(w.backlog) > 0 {
		b := w.backlog
		w.backlog = nil
		return b, nil
	}
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			select {
			case <-w.wake:
			default:
				return nil, ctx.Err()
			}
		}
		w.mu.Lock()
		q, ended := w.queue, w.ended
		w.queue = nil
		w.mu.Unlock()
		if len(q) > 0 {
			if ended {
				w.signal() // so that the next call sees the end
			}
			return q, nil
		}
		if ended {
			return nil, ErrEnded
		}
	}
}

// offer queues an event and says whether the watcher may stay.
func (w *Watcher) offer(e *Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Revision <= w.since {
		return true
	}
	if len(w.queue) >= queueLimit {
		w.ended, w.queue = true, nil
		w.signal()
		return false
	}
	w.queue = append(w.queue, e)
	w.signal()
	return true
}

func (w *Watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.signal()
}

func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// watchers of a collection by bucket; guarded by the collection's mu.
type watchers map[bucket]map[*Watcher]struct{}

func (ws watchers) add(w *Watcher) {
	b := w.filter.bucket()
	if ws[b] == nil {
		ws[b] = map[*Watcher]struct{}{}
	}
	ws[b][w] = struct{}{}
}

func (ws watchers) remove(w *Watcher) {
	b := w.filter.bucket()
	delete(ws[b], w)
	if len(ws[b]) == 0 {
		delete(ws, b)
	}
}

func (ws watchers) endAll() {
	for _, set := range ws {
		for w := range set {
			w.end()
		}
	}
	clear(ws)
}

func (ws watchers) deliver(e *Event) {
	if len(ws) == 0 {
		return
	}
	var room [8]bucket
	bs := append(room[:0], bucket{})
	if e.Entry != nil {
		bs = e.Entry.buckets(bs)
	}
	if e.Previous != nil {
		bs = e.Previous.buckets(bs)
	}
	for i, b := range bs {
		if contains(bs[:i], b) {
			continue
		}
		for w := range ws[b] {
			if w.selects(e) && !w.offer(e) {
				ws.remove(w)
			}
		}
	}
}

func contains(bs []bucket, b bucket) bool {
	for _, x := range bs {
		if x == b {
			return true
		}
	}
	return false
}
