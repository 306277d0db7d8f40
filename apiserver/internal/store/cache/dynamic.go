package cache

import (
	"context"
	"errors"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// errOvertaken says that the cache began anew while a collection was read.
var errOvertaken = errors.New("the cache began anew")

// Add makes the collection of a prefix while the cache runs. It takes the place of one that the prefix may have had, whose watchers
// are ended, once it holds all that is stored.
func (c *Cache) Add(ctx context.Context, prefix string, codec Codec) error {
	for {
		err := c.add(ctx, prefix, codec)
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
}

func (c *Cache) add(ctx context.Context, prefix string, codec Codec) error {
	col := newCollection(c, prefix, codec)
	col.loading = true
	c.mu.Lock()
	c.coming[prefix] = col
	c.mu.Unlock()
	entries, revision, err := c.readAll(ctx, col)
	c.mu.Lock()
	defer c.mu.Unlock()
	overtaken := c.coming[prefix] != col
	if !overtaken {
		delete(c.coming, prefix)
	}
	switch {
	case err != nil:
		return err
	case overtaken:
		return errOvertaken
	}
	col.begin(entries, revision)
	if old := c.collections[prefix]; old != nil {
		old.end()
	}
	c.collections[prefix] = col
	return nil
}

// Remove forgets the collection of a prefix and ends its watchers.
func (c *Cache) Remove(prefix string) {
	c.mu.Lock()
	old := c.collections[prefix]
	delete(c.collections, prefix)
	c.mu.Unlock()
	if old != nil {
		old.end()
	}
}

// targets are the collections that the changes below a prefix go to: that which is served, and that which will be.
func (c *Cache) targets(prefix string) []*Collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*Collection, 0, 2)
	for _, by := range []map[string]*Collection{c.collections, c.coming} {
		if col := by[prefix]; col != nil {
			out = append(out, col)
		}
	}
	return out
}

// readAll reads a collection at one revision.
func (c *Cache) readAll(ctx context.Context, col *Collection) (entries []*Entry, revision int64, err error) {
	from, end := col.prefix, store.PrefixEnd(col.prefix)
	for {
		page, err := c.store.Range(ctx, from, end, pageSize, revision)
		if err != nil {
			return nil, 0, err
		}
		revision = page.Revision
		for _, kv := range page.Items {
			entries = append(entries, c.readAny(col.codec, kv))
		}
		if page.More == 0 || len(page.Items) == 0 {
			return entries, revision, nil
		}
		from = page.Items[len(page.Items)-1].Key + "\x00"
	}
}

// Ended says whether the collection was removed or replaced: nothing changes in it any more.
func (c *Collection) Ended() bool { return c.ended.Load() }

// end ends all watchers, and those that come.
func (c *Collection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended.Store(true)
	c.watchers.endAll()
}

// begin takes over what was read, and the changes that came since.
func (c *Collection) begin(entries []*Entry, revision int64) {
	c.load(entries, revision)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loading = false
	for _, p := range c.pending {
		c.apply(p.change, p.next)
	}
	c.pending = nil
}

// pendingChange came while the collection was still being read.
type pendingChange struct {
	change store.Change
	next   *Entry
}
