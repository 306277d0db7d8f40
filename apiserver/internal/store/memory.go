package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"
	"k8s.io/utils/clock"
)

// errClosed is what a closed store answers.
var errClosed = errors.New("the store is closed")

// memory is an engine without a disk: a tree of the present keys, and the changes that led to them since a compaction.
type memory struct {
	clock clock.WithTicker

	// revision is of the last change; only read without mu.
	revision atomic.Int64
	closed   chan struct{}
	end      sync.Once

	mu      sync.Mutex // guards what follows
	tree    btree.Map[string, *record]
	history history
	news    chan struct{} // closed, and made anew, when a watch is to look
	dying   dying
}

func openMemory(o Options) *memory {
	m := &memory{clock: o.Clock, closed: make(chan struct{}), news: make(chan struct{})}
	if m.clock == nil {
		m.clock = clock.RealClock{}
	}
	m.revision.Store(1) // as an empty etcd
	m.dying.wake = make(chan struct{}, 1)
	if o.From != nil {
		m.begin(o.From)
	}
	m.history.compacted = m.revision.Load()
	return m
}

// begin takes over an image; nothing is copied.
func (m *memory) begin(image *Image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tree = *image.copied()
	m.revision.Store(max(1, image.Revision))
	m.tree.Scan(func(_ string, r *record) bool {
		m.bound(r)
		return true
	})
}

func (m *memory) Create(ctx context.Context, key string, value []byte, ttl int64) (int64, error) {
	return m.write(ctx, func() (*record, error) {
		if _, there := m.tree.Get(key); there {
			return nil, ErrExists
		}
		return newRecord(key, value, 0, ttl), nil
	})
}

func (m *memory) Update(ctx context.Context, key string, value []byte, expected, ttl int64) (int64, error) {
	return m.write(ctx, func() (*record, error) {
		return newRecord(key, value, 0, ttl), m.check(key, expected)
	})
}

func (m *memory) Delete(ctx context.Context, key string, expected int64) (int64, error) {
	return m.write(ctx, func() (*record, error) {
		return &record{KV: KV{Key: key}}, m.check(key, expected)
	})
}

// check compares a key's revision. The caller holds mu.
func (m *memory) check(key string, expected int64) error {
	now, there := m.tree.Get(key)
	switch {
	case !there && expected == 0:
		return nil
	case !there:
		return ErrNotFound
	case now.Revision != expected:
		return &ConflictError{Current: now.KV}
	}
	return nil
}

// write makes one change: of the record that decide gives, a deletion if it has no place for what is made of it.
func (m *memory) write(ctx context.Context, decide func() (*record, error)) (int64, error) {
	if err := m.open(ctx); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := decide()
	if err != nil {
		return 0, err
	}
	revision := m.revision.Load() + 1
	m.put(r, revision)
	m.publish(revision)
	return revision, nil
}

// put changes one key at a revision that publish tells of afterwards. The caller holds mu.
func (m *memory) put(r *record, revision int64) {
	r.Revision = revision
	previous, _ := m.tree.Get(r.Key)
	c := Change{KV: r.KV, Deleted: r.Made == nil, Created: previous == nil && r.Made != nil, before: previous}
	if previous != nil {
		c.Previous = previous.Value
	}
	if c.Deleted {
		m.tree.Delete(r.Key)
	} else {
		m.tree.Set(r.Key, r)
		m.bound(r)
	}
	m.history.add(c)
}

// publish makes the changes of a revision known. The caller holds mu.
func (m *memory) publish(revision int64) {
	m.revision.Store(revision)
	close(m.news)
	m.news = make(chan struct{})
}

// open says whether a request may go on.
func (m *memory) open(ctx context.Context) error {
	select {
	case <-m.closed:
		return errClosed
	default:
		return ctx.Err()
	}
}

func (m *memory) Range(ctx context.Context, from, end string, limit, revision int64) (Page, error) {
	if err := m.open(ctx); err != nil {
		return Page{}, err
	}
	m.mu.Lock()
	tree, now := m.tree.Copy(), m.revision.Load()
	past, err := m.history.after(max(revision, 0), revision > 0 && revision < now)
	m.mu.Unlock()
	switch {
	case revision > now:
		return Page{}, ErrFuture
	case err != nil:
		return Page{}, fmt.Errorf("range %s: %w", from, err)
	}
	p := Page{Revision: now}
	if revision > 0 {
		p.Revision = revision
	}
	undo(tree, past)
	tree.Ascend(from, func(key string, r *record) bool {
		switch {
		case key >= end:
			return false
		case limit > 0 && int64(len(p.Items)) == limit:
			p.More++
		default:
			p.Items = append(p.Items, r.KV)
		}
		return true
	})
	return p, nil
}

func (m *memory) Embedded() bool { return true }

func (m *memory) Latest(context.Context) (int64, error) { return m.revision.Load(), nil }

func (m *memory) Healthy(ctx context.Context) error { return m.open(ctx) }

func (m *memory) Compact(ctx context.Context, revision int64) error {
	if err := m.open(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history.compact(min(revision, m.revision.Load()))
	return nil
}

func (m *memory) CompactEvery(ctx context.Context, interval time.Duration, report func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for last := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := m.Compact(ctx, last); err != nil {
			report(err)
		}
		last = m.revision.Load()
	}
}

func (m *memory) Image(ctx context.Context) (*Image, error) {
	if err := m.open(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Image{Revision: m.revision.Load(), tree: m.tree.Copy()}, nil
}

func (m *memory) Replace(ctx context.Context, image *Image) error {
	if err := m.open(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	edits := difference(&m.tree, image.copied())
	if len(edits) == 0 {
		return nil
	}
	revision := m.revision.Load() + 1
	for _, e := range edits {
		r := &record{KV: KV{Key: e.key}}
		if e.want != nil {
			r = newRecord(e.key, e.want.Value, 0, e.want.ttl)
			if made := e.want.Made.Load(); made != nil {
				r.Made.Store(made)
			}
		}
		m.put(r, revision)
	}
	m.publish(revision)
	return nil
}

func (m *memory) Close() error {
	m.end.Do(func() { close(m.closed) })
	return nil
}
