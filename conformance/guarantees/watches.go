package guarantees

import (
	"cmp"
	"fmt"
	"slices"
)

// split gives a watch's initial objects with their version, and what follows. Without initial objects the version is where it
// began; ok is false when it broke off among them.
func (w *Watch) split() (initial []Event, version int64, changes []Event, ok bool) {
	if !w.Initial {
		return nil, w.From, w.Events, true
	}
	i := slices.IndexFunc(w.Events, func(e Event) bool { return e.InitialEnd })
	if i < 0 {
		return w.Events, 0, nil, false
	}
	return w.Events[:i], w.Events[i].Object.Version, w.Events[i+1:], true
}

// last is the greatest version that was told.
func (w *Watch) last() (version int64) {
	for _, e := range w.Events {
		version = max(version, e.Object.Version)
	}
	return version
}

// each calls f with every watch.
func (h *History) each(f func(w *Watch)) {
	for _, watcher := range h.Watchers {
		for i := range watcher {
			f(&watcher[i])
		}
	}
}

// Filtered: a watch tells only of what it selects.
func Filtered(h *History, _ *Truth) (broken []string) {
	h.each(func(w *Watch) {
		for _, e := range w.Events {
			if e.Type != Bookmark && !w.Filter.Matches(e.Object) {
				broken = append(broken, fmt.Sprintf("watch of %s %+v told of %+v", w.Kind, w.Filter, e))
			}
		}
	})
	return broken
}

// Ordered: of greater and greater versions; a bookmark's is no smaller than what was told.
func Ordered(h *History, _ *Truth) (broken []string) {
	h.each(func(w *Watch) {
		_, last, changes, _ := w.split()
		for _, e := range changes {
			if v := e.Object.Version; v < last || (v == last && e.Type != Bookmark) {
				broken = append(broken, fmt.Sprintf("watch of %s %+v from %d told of %+v after %d", w.Kind, w.Filter, w.From, e, last))
			}
			last = max(last, e.Object.Version)
		}
	})
	return broken
}

// Unique: a watcher is told of each change once, also when it comes again.
func Unique(h *History, _ *Truth) (broken []string) {
	for _, watcher := range h.Watchers {
		seen := map[Event]bool{}
		for i := range watcher {
			_, _, changes, _ := watcher[i].split()
			for _, e := range changes {
				if e.Type == Bookmark {
					continue
				}
				if seen[e] {
					broken = append(broken, fmt.Sprintf("a watcher of %s %+v was told of %+v twice", watcher[i].Kind, watcher[i].Filter, e))
				}
				seen[e] = true
			}
		}
	}
	return broken
}

// Atomic: each object is told as it was written, at the version of that write.
func Atomic(h *History, t *Truth) (broken []string) {
	h.each(func(w *Watch) {
		for _, e := range w.Events {
			if e.Type == Bookmark {
				continue
			}
			at := e.Object.Version
			if e.Type == Deleted {
				at-- // what is shown is the state before
			}
			want, _ := t.At(w.Kind, e.Object.Name, at)
			want.Version = e.Object.Version
			if _, changed := t.Event(w.Kind, e.Object.Version); !changed || e.Object != want {
				broken = append(broken, fmt.Sprintf("watch of %s told of %+v, which was %+v", w.Kind, e, want))
			}
		}
	})
	return broken
}

// Bookmarked: all up to a bookmark was told before it.
func Bookmarked(h *History, t *Truth) (broken []string) {
	h.each(func(w *Watch) {
		_, from, changes, ok := w.split()
		if !ok {
			return
		}
		expected := t.Expected(w.Kind, w.Filter, from, w.last())
		told := 0
		for _, e := range changes {
			if e.Type != Bookmark {
				told++
				continue
			}
			due := slices.IndexFunc(expected, func(x Event) bool { return x.Object.Version > e.Object.Version })
			if due < 0 {
				due = len(expected)
			}
			if told != due {
				broken = append(broken, fmt.Sprintf("watch of %s %+v from %d had told of %d changes at bookmark %d, not of %d", w.Kind, w.Filter, from, told, e.Object.Version, due))
			}
		}
	})
	return broken
}

// Resumable: a watch begins with the first change after its version, or with the state that its bookmark tells.
func Resumable(h *History, t *Truth) (broken []string) {
	h.each(func(w *Watch) {
		initial, from, changes, ok := w.split()
		if !ok {
			return
		}
		if w.Initial {
			var objects []Object
			for _, e := range initial {
				objects = append(objects, e.Object)
			}
			slices.SortFunc(objects, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
			if want := t.Objects(w.Kind, w.Filter, from); !slices.Equal(objects, want) {
				broken = append(broken, fmt.Sprintf("watch of %s %+v began with %+v; at %d there is %+v", w.Kind, w.Filter, objects, from, want))
			}
		}
		first := slices.IndexFunc(changes, func(e Event) bool { return e.Type != Bookmark })
		if first < 0 {
			return
		}
		if expected := t.Expected(w.Kind, w.Filter, from, w.last()); len(expected) == 0 || changes[first] != expected[0] {
			broken = append(broken, fmt.Sprintf("watch of %s %+v from %d began with %+v", w.Kind, w.Filter, from, changes[first]))
		}
	})
	return broken
}

// Reliable: a watch leaves none out.
func Reliable(h *History, t *Truth) (broken []string) {
	h.each(func(w *Watch) {
		_, from, changes, ok := w.split()
		if !ok {
			return
		}
		expected := t.Expected(w.Kind, w.Filter, from, w.last())
		i := 0
		for _, e := range changes {
			if e.Type == Bookmark {
				continue
			}
			if i == len(expected) || e != expected[i] {
				broken = append(broken, fmt.Sprintf("watch of %s %+v from %d told of %+v as the %d. change, not as expected: %+v", w.Kind, w.Filter, from, e, i+1, expected[i:min(i+1, len(expected))]))
				return
			}
			i++
		}
	})
	return broken
}
