package cache

import (
	"fmt"
	"slices"
	"strings"
)

// UnreadableError is about a stored value that is no object: somebody else wrote it, or a disk lost it.
type UnreadableError struct {
	Key      string
	Revision int64
	Err      error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("object not decodable revision=%d: %v", e.Revision, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// Unreadable are the values below a prefix that can't be read, in the order of their keys. They are in no snapshot.
func (c *Collection) Unreadable(prefix string) []*UnreadableError {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*UnreadableError
	for key, e := range c.unreadable {
		if strings.HasPrefix(key, prefix) {
			out = append(out, &UnreadableError{key, e.Revision, e.unreadable})
		}
	}
	slices.SortFunc(out, func(a, b *UnreadableError) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// UnreadableAt says why the value of a key can't be read; nil: it can, or there is none.
func (c *Collection) UnreadableAt(key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.unreadable[key]
	if e == nil {
		return nil
	}
	return &UnreadableError{key, e.Revision, e.unreadable}
}

// lose takes note of a value that can't be read. It is no deletion, and nobody is to take it for one: all watchers are ended, so that
// they list anew and are told. The caller holds mu.
func (c *Collection) lose(e *Entry) {
	if c.unreadable == nil {
		c.unreadable = map[string]*Entry{}
	}
	c.unreadable[e.Key] = e
	c.set(e.Key, nil)
	c.revision = max(c.revision, e.Revision)
	c.changes.Add(1)
	c.ring = ring{start: c.revision}
	c.watchers.endAll()
	c.pages = pages{}
}
