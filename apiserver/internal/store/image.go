package store

import (
	"bytes"
	"sync"

	"github.com/tidwall/btree"
)

// Image is everything that a store held at a revision. It never changes: any number of stores may be begun with it at once.
type Image struct {
	Revision int64

	mu   sync.Mutex // copying a tree changes it
	tree *btree.Map[string, *record]
}

// copied is the image's tree for one who may change it; nothing of it is copied yet.
func (i *Image) copied() *btree.Map[string, *record] {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.tree.Copy()
}

// record is one key in memory. It never changes.
type record struct {
	KV
	ttl int64 // seconds that the key was given to live; 0: for ever
}

func newRecord(key string, value []byte, revision, ttl int64) *record {
	return &record{KV: KV{Key: key, Value: value, Revision: revision, Made: &Made{}}, ttl: ttl}
}

func newImage() *Image { return &Image{tree: &btree.Map[string, *record]{}} }

// Len is how many keys the image holds.
func (i *Image) Len() int { return i.copied().Len() }

// Each calls f with every key in order.
func (i *Image) Each(f func(KV)) {
	i.copied().Scan(func(_ string, r *record) bool {
		f(r.KV)
		return true
	})
}

// edit is what makes one key of a store as an image has it.
type edit struct {
	key  string
	have *record // nil: the key is not there
	want *record // nil: the key is to go
}

// difference are the edits that make have hold what want holds, in the order of keys.
func difference(have, want *btree.Map[string, *record]) []edit {
	var out []edit
	h, w := have.Iter(), want.Iter()
	moreHave, moreWant := h.First(), w.First()
	for moreHave || moreWant {
		switch {
		case !moreWant || (moreHave && h.Key() < w.Key()):
			out = append(out, edit{key: h.Key(), have: h.Value()})
			moreHave = h.Next()
		case !moreHave || w.Key() < h.Key():
			out = append(out, edit{key: w.Key(), want: w.Value()})
			moreWant = w.Next()
		default:
			if !same(h.Value(), w.Value()) {
				out = append(out, edit{key: h.Key(), have: h.Value(), want: w.Value()})
			}
			moreHave, moreWant = h.Next(), w.Next()
		}
	}
	return out
}

func same(a, b *record) bool { return a == b || bytes.Equal(a.Value, b.Value) }
