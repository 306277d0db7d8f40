package cache

import "time"

// A client that lists in pages continues within moments; the states it continues are kept a while.
const (
	pagesKept  = 8
	pagesValid = 2 * time.Minute
)

// pages remembers the snapshots whose lists continue. What it no longer has is read from etcd.
type pages struct {
	kept [pagesKept]kept
	next int
}

type kept struct {
	snapshot Snapshot
	at       time.Time
}

// Keep remembers a snapshot whose list will be continued.
func (c *Collection) Keep(s Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.pages.kept {
		if k.snapshot.Revision == s.Revision && k.snapshot.tree != nil {
			return
		}
	}
	c.pages.kept[c.pages.next] = kept{s, time.Now()}
	c.pages.next = (c.pages.next + 1) % pagesKept
}

// Kept returns the snapshot of a revision if it is remembered.
func (c *Collection) Kept(revision int64) (Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.pages.kept {
		if k.snapshot.tree != nil && k.snapshot.Revision == revision && time.Since(k.at) < pagesValid {
			return k.snapshot, true
		}
	}
	return Snapshot{}, false
}
