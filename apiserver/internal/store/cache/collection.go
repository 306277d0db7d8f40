package cache

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// ringSize is how many events of a collection stay in memory for watches that resume. What is older is
// read from etcd.
const ringSize = 4096

// Collection holds the objects below one key prefix.
type Collection struct {
	cache  *Cache
	codec  Codec
	prefix string

	mu     sync.Mutex
	points map[string]*Entry
	tree   btree.Map[string, *Entry]
	// indexed are the entries that have the indexed field, by its value and then by key.
	indexed  btree.Map[string, *Entry]
	revision int64 // of the last change applied; every change at or below it is in the tree
	ring     ring
	watchers watchers
	pages    pages
	// unreadable are values that are no objects, by key; seldom any.
	unreadable map[string]*Entry

	changes atomic.Int64 // how often the content changed
	// base is the revision of what was read: changes at or below it are known.
	base int64
	// loading: changes wait in pending until the collection was read.
	loading bool
	pending []pendingChange
	ended   atomic.Bool // no watcher may begin, and nothing changes any more
}

func newCollection(c *Cache, prefix string, codec Codec) *Collection {
	return &Collection{cache: c, codec: codec, prefix: prefix, points: map[string]*Entry{}, watchers: watchers{}}
}

// Prefix is the key prefix, with a slash at its end.
func (c *Collection) Prefix() string { return c.prefix }

// Codec reads the collection's values.
func (c *Collection) Codec() Codec { return c.codec }

// Get returns the entry of a key, or nil.
func (c *Collection) Get(key string) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.points[key]
}

// Changes counts how often the content changed: what was made of it is current while the count is the same.
func (c *Collection) Changes() int64 { return c.changes.Load() }

// Len is the number of objects.
func (c *Collection) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.points)
}

// Snapshot is the state of a collection at one revision. It is read without a lock.
type Snapshot struct {
	Revision      int64
	tree, indexed *btree.Map[string, *Entry]
}

// Snapshot returns the present state. Copying the tree costs nothing: later changes copy what they touch.
func (c *Collection) Snapshot() Snapshot {
	// seen is read first: all that it covers is in the tree by then.
	seen := c.cache.seen.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	return Snapshot{Revision: max(seen, c.revision), tree: c.tree.Copy(), indexed: c.indexed.Copy()}
}

// Ascend calls f with the entries whose keys begin with prefix and are not before from, in order, until it returns false.
func (s Snapshot) Ascend(prefix, from string, f func(*Entry) bool) {
	s.tree.Ascend(max(prefix, from), func(key string, e *Entry) bool {
		return strings.HasPrefix(key, prefix) && f(e)
	})
}

// AscendSelected calls f with the entries that the filter selects, as Ascend does; those of one node are found without a look at others.
func (s Snapshot) AscendSelected(filter *Filter, prefix, from string, f func(*Entry) bool) {
	value, ok := filter.indexed()
	if !ok {
		s.Ascend(prefix, from, func(e *Entry) bool { return !filter.Matches(e) || f(e) })
		return
	}
	s.indexed.Ascend(indexKey(value, max(prefix, from)), func(key string, e *Entry) bool {
		return strings.HasPrefix(key, indexKey(value, prefix)) && (!filter.Matches(e) || f(e))
	})
}

// indexKey is where an entry with a value of the indexed field stands.
func indexKey(value, key string) string { return value + "\x00" + key }

// set puts an entry in the place of a key, or takes away what is there. The caller holds mu.
func (c *Collection) set(key string, next *Entry) {
	if prev := c.points[key]; prev != nil {
		if v := prev.Fields.Get(IndexedField); v != "" {
			c.indexed.Delete(indexKey(v, key))
		}
	}
	if next == nil {
		delete(c.points, key)
		c.tree.Delete(key)
		return
	}
	c.points[key] = next
	c.tree.Set(key, next)
	if v := next.Fields.Get(IndexedField); v != "" {
		c.indexed.Set(indexKey(v, key), next)
	}
}

// apply puts one change into the collection and tells the watchers. The caller holds mu.
func (c *Collection) apply(ch store.Change, next *Entry) {
	if c.loading {
		c.pending = append(c.pending, pendingChange{ch, next})
		return
	}
	if ch.Revision <= c.base {
		return
	}
	if next != nil && next.unreadable != nil {
		c.lose(next)
		return
	}
	delete(c.unreadable, ch.Key)
	prev := c.points[ch.Key]
	if next == nil && prev == nil {
		return
	}
	c.revision = max(c.revision, ch.Revision)
	c.set(ch.Key, next)
	c.changes.Add(1)
	e := newEvent(ch.Revision, prev, next)
	c.ring.push(e)
	c.watchers.deliver(e)
}

// load replaces the content with what was read at revision.
func (c *Collection) load(entries []*Entry, revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.points)
	c.tree, c.indexed = btree.Map[string, *Entry]{}, btree.Map[string, *Entry]{}
	clear(c.unreadable)
	for _, e := range entries {
		if e.unreadable != nil {
			c.lose(e)
			continue
		}
		c.set(e.Key, e)
	}
	c.changes.Add(1)
	c.revision, c.base = revision, revision
	c.ring = ring{start: revision}
	c.watchers.endAll()
	c.pages = pages{}
}
