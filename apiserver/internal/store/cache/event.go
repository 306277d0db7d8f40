package cache

import "sync/atomic"

// Event is one change of a collection. It is shared by all watchers.
type Event struct {
	Revision int64
	// Entry is the object after the change; nil when it was deleted.
	Entry *Entry
	// Previous is the object before; nil when it was created.
	Previous *Entry

	gone atomic.Pointer[Entry] // nil: nobody asked
}

func newEvent(revision int64, prev, next *Entry) *Event {
	return &Event{Revision: revision, Entry: next, Previous: prev}
}

// Gone is what a DELETED frame shows: the object as it was, at the revision of the change. It is the
// same entry for every caller, so it is encoded once.
func (e *Event) Gone() *Entry {
	if e.gone.Load() == nil {
		e.gone.CompareAndSwap(nil, e.Previous.at(e.Revision))
	}
	return e.gone.Load()
}

// ring keeps the last events of a collection.
type ring struct {
	events []*Event
	next   int   // where the next event goes once the ring is full
	start  int64 // every event after this revision is kept
}

// sharedFor is for how many events an object that was replaced or deleted is still shared among watchers that are behind. By then each of
// them has likely been told.
const sharedFor = 256

// forget lets go of what an event of a while ago was the last to show.
func (r *ring) forget() {
	if n := len(r.events); n >= sharedFor {
		e := r.events[(r.next+n-sharedFor)%n]
		if e.Previous != nil {
			e.Previous.forget()
		}
		if gone := e.gone.Load(); gone != nil {
			gone.forget()
		}
	}
}

func (r *ring) push(e *Event) {
	defer r.forget()
	if len(r.events) < ringSize {
		r.events = append(r.events, e)
		return
	}
	r.start = r.events[r.next].Revision
	r.events[r.next] = e
	r.next = (r.next + 1) % ringSize
}

// since returns the events after a revision in order, and false when some are no longer kept.
func (r *ring) since(revision int64) ([]*Event, bool) {
	if revision < r.start {
		return nil, false
	}
	var out []*Event
	for i := range r.events {
		if e := r.events[(r.next+i)%len(r.events)]; e.Revision > revision {
			out = append(out, e)
		}
	}
	return out, true
}
