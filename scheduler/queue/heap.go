package queue

import (
	"container/heap"

	"k8s.io/apimachinery/pkg/types"
)

// ordered is a heap of entries that can be found and removed by uid.
type ordered struct {
	less    func(a, b *Entry) bool
	entries []*Entry
	index   map[types.UID]int
}

func newOrdered(less func(a, b *Entry) bool) *ordered {
	return &ordered{less: less, index: map[types.UID]int{}}
}

func (o *ordered) Len() int           { return len(o.entries) }
func (o *ordered) Less(i, j int) bool { return o.less(o.entries[i], o.entries[j]) }

func (o *ordered) Swap(i, j int) {
	o.entries[i], o.entries[j] = o.entries[j], o.entries[i]
	o.index[o.entries[i].Pod.UID], o.index[o.entries[j].Pod.UID] = i, j
}

// Push and Pop are heap.Interface; use push and pop.
func (o *ordered) Push(x any) {
	entry, ok := x.(*Entry)
	if !ok {
		panic("only entries stand in a queue")
	}
	o.index[entry.Pod.UID] = len(o.entries)
	o.entries = append(o.entries, entry)
}

// Pop is heap.Interface; use pop.
func (o *ordered) Pop() any {
	last := len(o.entries) - 1
	entry := o.entries[last]
	o.entries[last] = nil
	o.entries = o.entries[:last]
	delete(o.index, entry.Pod.UID)
	return entry
}

func (o *ordered) push(entry *Entry) { heap.Push(o, entry) }

func (o *ordered) first() *Entry {
	if len(o.entries) == 0 {
		return nil
	}
	return o.entries[0]
}

func (o *ordered) get(uid types.UID) *Entry {
	if at, ok := o.index[uid]; ok {
		return o.entries[at]
	}
	return nil
}

// remove takes an entry out; nil when it isn't there.
func (o *ordered) remove(uid types.UID) *Entry {
	at, ok := o.index[uid]
	if !ok {
		return nil
	}
	entry, ok := heap.Remove(o, at).(*Entry)
	if !ok {
		panic("only entries stand in a queue")
	}
	return entry
}
