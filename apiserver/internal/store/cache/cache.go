package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// progressInterval is how often etcd is asked anew how far the watch is.
const progressInterval = 100 * time.Millisecond

// pageSize is how many keys are read from etcd in one go at the start.
const pageSize = 10_000

// Options of a cache.
type Options struct {
	Store *store.Store
	// Codecs by key prefix, each with a slash at its end.
	Codecs map[string]Codec
	Logger *slog.Logger
}

// Cache holds all collections. Safe for concurrent use.
type Cache struct {
	store *store.Store
	log   *slog.Logger

	// seen: every change at or below it is in its collection.
	seen  atomic.Int64
	ready chan struct{}

	mu          sync.Mutex // guards what follows
	collections map[string]*Collection
	coming      map[string]*Collection // still being read; see Add
	parked      map[int64]*Entry
	waiters     map[*waiter]struct{}
}

type waiter struct {
	revision int64
	done     chan struct{}
}

// New makes the cache; Run fills it.
func New(o Options) *Cache {
	c := &Cache{store: o.Store, log: o.Logger, ready: make(chan struct{}),
		collections: map[string]*Collection{}, coming: map[string]*Collection{}, parked: map[int64]*Entry{}, waiters: map[*waiter]struct{}{}}
	for prefix, codec := range o.Codecs {
		c.collections[prefix] = newCollection(c, prefix, codec)
	}
	return c
}

// Collection returns the collection of a prefix, or nil.
func (c *Cache) Collection(prefix string) *Collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.collections[prefix]
}

// Ready is closed once everything was read.
func (c *Cache) Ready() <-chan struct{} { return c.ready }

// Revision is the revision seen.
func (c *Cache) Revision() int64 { return c.seen.Load() }

// Run reads everything and follows the changes until ctx ends. When etcd goes away it waits and goes on where it was.
func (c *Cache) Run(ctx context.Context) error {
	first := true
	for {
		err := c.load(ctx)
		if err == nil {
			if first {
				close(c.ready)
				first = false
			}
			err = c.follow(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		c.log.Warn("reading etcd anew", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// follow applies changes; it returns when the changes since the revision seen are no longer known, or ctx ended.
func (c *Cache) follow(ctx context.Context) error {
	for {
		err := c.store.Watch(ctx, store.Prefix, c.seen.Load(), false, c.batch)
		if ctx.Err() != nil || errors.Is(err, store.ErrCompacted) {
			return err
		}
		c.log.Warn("the watch of etcd broke; resuming", "revision", c.seen.Load(), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// load reads all collections at one revision.
func (c *Cache) load(ctx context.Context) error {
	found := map[*Collection][]*Entry{}
	from, end, revision := store.Prefix, store.PrefixEnd(store.Prefix), int64(0)
	for {
		page, err := c.store.Range(ctx, from, end, pageSize, revision)
		if err != nil {
			return err
		}
		revision = page.Revision
		for _, kv := range page.Items {
			col := c.owner(kv.Key)
			if col == nil {
				continue
			}
			found[col] = append(found[col], c.readAny(col.codec, kv))
		}
		if page.More == 0 || len(page.Items) == 0 {
			break
		}
		from = page.Items[len(page.Items)-1].Key + "\x00"
	}
	c.mu.Lock()
	for _, col := range c.collections {
		col.load(found[col], revision)
	}
	clear(c.coming) // what they missed is not known; they begin anew
	c.mu.Unlock()
	c.advance(revision)
	return nil
}

// owner finds the collection of a key: the one whose prefix is the longest.
func (c *Cache) owner(key string) *Collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := strings.LastIndexByte(key, '/'); i >= len(store.Prefix); i = strings.LastIndexByte(key[:i], '/') {
		if col := c.collections[key[:i+1]]; col != nil {
			return col
		}
		if col := c.coming[key[:i+1]]; col != nil {
			return col
		}
	}
	return nil
}

// batch applies the changes of whole revisions. All changes of one collection become visible together.
func (c *Cache) batch(seen int64, changes []store.Change) error {
	for len(changes) > 0 {
		col := c.owner(changes[0].Key)
		n := 1
		for n < len(changes) && (col == nil || strings.HasPrefix(changes[n].Key, col.prefix)) && c.owner(changes[n].Key) == col {
			n++
		}
		if col != nil {
			for _, target := range c.targets(col.prefix) {
				c.applyRun(target, changes[:n])
			}
		}
		changes = changes[n:]
	}
	c.advance(seen)
	return nil
}

// applyRun applies consecutive changes of one collection under one lock.
func (c *Cache) applyRun(col *Collection, changes []store.Change) {
	next := make([]*Entry, len(changes))
	for i, ch := range changes {
		if ch.Deleted {
			continue
		}
		if next[i] = c.unpark(ch, col.codec); next[i] != nil {
			remember(ch.KV, next[i])
			continue
		}
		next[i] = c.readAny(col.codec, ch.KV)
	}
	col.mu.Lock()
	defer col.mu.Unlock()
	for i, ch := range changes {
		col.apply(ch, next[i])
	}
}

// Park leaves the entry that a write made for the event of its revision.
func (c *Cache) Park(e *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.Load() < e.Revision {
		c.parked[e.Revision] = e
	}
}

// unpark gives the entry of a change that this process made, unless its collection was replaced since.
func (c *Cache) unpark(ch store.Change, codec Codec) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.parked[ch.Revision]
	if e == nil || e.Key != ch.Key || e.codec != codec {
		return nil
	}
	delete(c.parked, ch.Revision)
	return e
}

func (c *Cache) advance(revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision > c.seen.Load() {
		c.seen.Store(revision)
	}
	for r := range c.parked {
		if r <= revision { // its event came before it was parked
			delete(c.parked, r)
		}
	}
	for w := range c.waiters {
		if w.revision <= revision {
			close(w.done)
			delete(c.waiters, w)
		}
	}
}

// WaitFor returns when the revision is seen, or with ctx's error.
func (c *Cache) WaitFor(ctx context.Context, revision int64) error {
	if c.seen.Load() >= revision {
		return nil
	}
	w := &waiter{revision: revision, done: make(chan struct{})}
	c.mu.Lock()
	if c.seen.Load() >= revision {
		c.mu.Unlock()
		return nil
	}
	c.waiters[w] = struct{}{}
	c.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiters, w)
		c.mu.Unlock()
		return ctx.Err()
	}
}

// Fresh returns when every write acknowledged before the call is seen.
func (c *Cache) Fresh(ctx context.Context) error {
	latest, err := c.store.Latest(ctx)
	if err != nil {
		return err
	}
	if c.seen.Load() >= latest {
		return nil
	}
	if c.store.Embedded() {
		return c.WaitFor(ctx, latest)
	}
	return c.ask(ctx, latest)
}

// ask returns when the revision is seen. Other API servers' keys, or a quiet store: etcd tells how far the watch is only when asked,
// and not while the watch is behind.
func (c *Cache) ask(ctx context.Context, revision int64) error {
	for {
		if err := c.store.RequestProgress(ctx); err != nil {
			return fmt.Errorf("progress of the watch: %w", err)
		}
		wait, cancel := context.WithTimeout(ctx, progressInterval)
		err := c.WaitFor(wait, revision)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}
