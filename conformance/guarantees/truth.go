package guarantees

import (
	"cmp"
	"slices"
	"sort"
)

// Truth is what the store holds in the end: every change of every kind, in order.
type Truth struct{ kinds map[string]*log }

// log is one kind's changes.
type log struct {
	events []Event
	// states of each name, in order; a state whose UID is empty is that there is none.
	states map[string][]Object
	// removals are the versions at which incarnations went.
	removals map[string]int64
}

// NewTruth takes each kind's changes from the beginning.
func NewTruth(changes map[string][]Event) *Truth {
	t := &Truth{kinds: map[string]*log{}}
	for kind, events := range changes {
		l := &log{events: events, states: map[string][]Object{}, removals: map[string]int64{}}
		for _, e := range events {
			state := e.Object
			if e.Type == Deleted {
				l.removals[state.UID] = state.Version
				state.UID = ""
			}
			l.states[state.Name] = append(l.states[state.Name], state)
		}
		t.kinds[kind] = l
	}
	return t
}

func (t *Truth) of(kind string) *log {
	if l := t.kinds[kind]; l != nil {
		return l
	}
	return &log{}
}

// At gives the state of a name at a version, and whether there is an object.
func (t *Truth) At(kind, name string, version int64) (Object, bool) {
	states := t.of(kind).states[name]
	i := sort.Search(len(states), func(i int) bool { return states[i].Version > version })
	if i == 0 || states[i-1].UID == "" {
		return Object{}, false
	}
	return states[i-1], true
}

// Objects gives all objects that a filter selects at a version, by name.
func (t *Truth) Objects(kind string, f Filter, version int64) []Object {
	var out []Object
	for name := range t.of(kind).states {
		if o, ok := t.At(kind, name, version); ok && f.Matches(o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Event gives the change of a version.
func (t *Truth) Event(kind string, version int64) (Event, bool) {
	after := t.of(kind).after(version - 1)
	if len(after) == 0 || after[0].Object.Version != version {
		return Event{}, false
	}
	return after[0], true
}

// Removal gives the version at which an incarnation went.
func (t *Truth) Removal(kind, uid string) (int64, bool) {
	version, gone := t.of(kind).removals[uid]
	return version, gone
}

// after gives the changes after a version.
func (l *log) after(version int64) []Event {
	return l.events[sort.Search(len(l.events), func(i int) bool { return l.events[i].Object.Version > version }):]
}

// Expected gives what a watch with a filter is told of the changes after one version and up to another.
func (t *Truth) Expected(kind string, f Filter, from, to int64) []Event {
	var out []Event
	for _, e := range t.of(kind).after(from) {
		if e.Object.Version > to {
			break
		}
		before, was := t.At(kind, e.Object.Name, e.Object.Version-1)
		was = was && f.Matches(before)
		is := e.Type != Deleted && f.Matches(e.Object)
		switch {
		case is && was:
			out = append(out, Event{Type: Modified, Object: e.Object})
		case is:
			out = append(out, Event{Type: Added, Object: e.Object})
		case was:
			before.Version = e.Object.Version
			out = append(out, Event{Type: Deleted, Object: before})
		}
	}
	return out
}
