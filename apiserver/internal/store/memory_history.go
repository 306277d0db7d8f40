package store

import (
	"slices"
	"sort"

	"github.com/tidwall/btree"
)

// historyBytes bounds the values that the history keeps alive, so that a store to which much is written doesn't fill the memory:
// what is older is compacted before its time.
const historyBytes = 64 << 20

// history is the changes after a compaction, in order.
type history struct {
	compacted int64 // changes at or below it are forgotten
	changes   []Change
	bytes     int // of the values before the changes
}

func (h *history) add(c Change) {
	h.changes = append(h.changes, c)
	h.bytes += len(c.Previous)
	if h.bytes > historyBytes {
		h.compact(h.changes[len(h.changes)/2].Revision)
	}
}

// after gives the changes after a revision, or ErrCompacted; none unless they are wanted.
func (h *history) after(revision int64, wanted bool) ([]Change, error) {
	if !wanted {
		return nil, nil
	}
	if revision < h.compacted {
		return nil, ErrCompacted
	}
	return h.changes[h.position(revision):], nil
}

// position is where the changes after a revision begin.
func (h *history) position(revision int64) int {
	return sort.Search(len(h.changes), func(i int) bool { return h.changes[i].Revision > revision })
}

// compact forgets the changes up to a revision. Whoever reads the older ones keeps them.
func (h *history) compact(revision int64) {
	if revision <= h.compacted {
		return
	}
	h.changes = slices.Clone(h.changes[h.position(revision):])
	h.compacted, h.bytes = revision, 0
	for _, c := range h.changes {
		h.bytes += len(c.Previous)
	}
}

// undo takes changes back, the last first.
func undo(tree *btree.Map[string, *record], changes []Change) {
	for _, c := range slices.Backward(changes) {
		if c.before == nil {
			tree.Delete(c.Key)
		} else {
			tree.Set(c.Key, c.before)
		}
	}
}
