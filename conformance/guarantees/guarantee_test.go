package guarantees

import (
	"slices"
	"testing"
)

const kind = "configmaps"

// story is a small history that holds all guarantees: a is created, changed twice and deleted, b is created.
func story() *History {
	a1, a2, a3 := Object{"a", "A", 10, 2}, Object{"a", "A", 12, 3}, Object{"a", "A", 14, 4}
	b := Object{"b", "B", 13, 6}
	gone := Object{"a", "A", 15, 4}
	return &History{
		Writes: []Write{
			{kind, false, a1, Acknowledged, 1, 2},
			{kind, false, a2, Acknowledged, 3, 4},
			{kind, false, b, Acknowledged, 3, 5},
			{kind, false, Object{"a", "", 0, 4}, Unknown, 6, 7},
			{kind, false, Object{"a", "", 0, 8}, Refused, 6, 7},
			{kind, true, Object{"a", "A", 0, 0}, Acknowledged, 8, 9},
		},
		Reads: []Read{
			{Kind: kind, Items: []Object{a1}, Version: 11, Start: 2, End: 4},
			{Kind: kind, Filter: Filter{Color: "red"}, Items: []Object{b}, Version: 13, Start: 6, End: 7},
			{Kind: kind, Filter: Filter{Name: "a"}, Get: true, Items: []Object{a2}, Start: 5, End: 6},
			{Kind: kind, Filter: Filter{Name: "a"}, Get: true, Start: 10, End: 11},
		},
		Watchers: []Watcher{
			{
				{Kind: kind, From: 9, Events: []Event{{Added, a1, false}, {Modified, a2, false}, mark(12)}},
				{Kind: kind, From: 12, Events: []Event{{Added, b, false}, {Modified, a3, false}, {Deleted, gone, false}, mark(20)}},
			},
			{{Kind: kind, Filter: Filter{Color: "red"}, From: 9, Events: []Event{
				{Added, a1, false}, {Deleted, Object{"a", "A", 12, 2}, false}, {Added, b, false}, {Added, a3, false}, {Deleted, gone, false},
			}}},
			{{Kind: kind, Initial: true, Events: []Event{{Added, b, false}, {Added, a2, false}, {Bookmark, Object{Version: 13}, true}, {Modified, a3, false}}}},
			{{Kind: kind, Initial: true, Events: []Event{{Added, b, false}}}},
		},
	}
}

func mark(version int64) Event { return Event{Type: Bookmark, Object: Object{Version: version}} }

func truth() *Truth {
	return NewTruth(map[string][]Event{kind: {
		{Added, Object{"a", "A", 10, 2}, false}, {Modified, Object{"a", "A", 12, 3}, false}, {Added, Object{"b", "B", 13, 6}, false},
		{Modified, Object{"a", "A", 14, 4}, false}, {Deleted, Object{"a", "A", 15, 4}, false},
	}})
}

func TestTheStoryHolds(t *testing.T) {
	t.Parallel()
	for _, g := range All() {
		if broken := g.Check(story(), truth()); len(broken) > 0 {
			t.Errorf("%s: %v", g.Name, broken)
		}
	}
}

// TestGuaranteesFail: each change of the story breaks the guarantees that it names, and no other.
func TestGuaranteesFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spoil  func(h *History)
		broken []string
	}{
		{"an acknowledged write is lost", func(h *History) {
			h.Writes = append(h.Writes, Write{kind, false, Object{"c", "C", 16, 10}, Acknowledged, 20, 21})
		}, []string{"durable"}},
		{"an acknowledged deletion is lost", func(h *History) {
			h.Writes = append(h.Writes, Write{kind, true, Object{"b", "B", 0, 0}, Acknowledged, 20, 21})
		}, []string{"durable"}},
		{"another version was acknowledged", func(h *History) { h.Writes[0].Object.Version = 11 }, []string{"durable"}},
		{"a refused write happened", func(h *History) { h.Writes[3].Outcome = Refused }, []string{"explained"}},
		{"a refused deletion happened", func(h *History) { h.Writes[5].Outcome = Refused }, []string{"explained"}},
		{"a later write has a smaller version", func(h *History) { h.Writes[0].Start, h.Writes[0].End = 7, 8 }, []string{"real time"}},
		{"a list lacks what was acknowledged", func(h *History) { h.Reads[0].Start, h.Reads[0].End = 5, 6 }, []string{"fresh"}},
		{"a get gives what was before", func(h *History) { h.Reads[2].Items[0] = Object{"a", "A", 10, 2} }, []string{"fresh"}},
		{"a get finds nothing yet", func(h *History) {
			h.Reads = append(h.Reads, Read{Kind: kind, Filter: Filter{Name: "b"}, Get: true, Start: 6, End: 7})
		}, []string{"fresh"}},
		{"a list is of two states", func(h *History) { h.Reads[0].Items = append(h.Reads[0].Items, Object{"b", "B", 13, 6}) }, []string{"consistent"}},
		{"a list lacks an object", func(h *History) { h.Reads[1].Items = nil }, []string{"consistent"}},
		{"a get gives what never was", func(h *History) { h.Reads[2].Items[0].Write = 4 }, []string{"consistent"}},
		{"a list goes back", func(h *History) { h.Reads[0].Start, h.Reads[0].End = 12, 13 }, []string{"fresh", "monotonic"}},
		{"what is not selected is told", func(h *History) {
			h.Watchers[1][0].Events = slices.Insert(h.Watchers[1][0].Events, 1, Event{Modified, Object{"a", "A", 12, 3}, false})
		}, []string{"filter", "ordered", "reliable"}},
		{"a change is told late", func(h *History) {
			e := h.Watchers[0][1].Events
			e[0], e[1] = e[1], e[0]
		}, []string{"ordered", "resumable", "reliable"}},
		{"a change is told twice", func(h *History) {
			h.Watchers[0][1].From = 10
			h.Watchers[0][1].Events = slices.Insert(h.Watchers[0][1].Events, 0, h.Watchers[0][0].Events[1])
		}, []string{"unique"}},
		{"an object is told as it was before", func(h *History) { h.Watchers[0][0].Events[1].Object.Write = 2 }, []string{"atomic", "reliable"}},
		{"a deletion is told at the version before", func(h *History) { h.Watchers[0][1].Events[2].Object.Version = 14 }, []string{"ordered", "atomic", "reliable"}},
		{"a bookmark overtakes", func(h *History) {
			h.Watchers[0][1].Events = slices.Insert(h.Watchers[0][1].Events, 1, mark(14))
		}, []string{"ordered", "bookmarked"}},
		{"a bookmark goes back", func(h *History) {
			h.Watchers[0][1].Events = append(h.Watchers[0][1].Events, mark(15))
		}, []string{"ordered"}},
		{"the first change is left out", func(h *History) {
			h.Watchers[1][0].Events = h.Watchers[1][0].Events[1:]
		}, []string{"resumable", "reliable"}},
		{"an initial object is left out", func(h *History) {
			h.Watchers[2][0].Events = h.Watchers[2][0].Events[1:]
		}, []string{"resumable"}},
		{"a change is left out", func(h *History) {
			h.Watchers[1][0].Events = slices.Delete(h.Watchers[1][0].Events, 2, 3)
		}, []string{"reliable"}},
		{"a change is told as a creation", func(h *History) { h.Watchers[2][0].Events[3].Type = Added }, []string{"resumable", "reliable"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := story()
			c.spoil(h)
			var broken []string
			for _, g := range All() {
				if len(g.Check(h, truth())) > 0 {
					broken = append(broken, g.Name)
				}
			}
			if !slices.Equal(broken, c.broken) {
				t.Errorf("breaks %v, want %v", broken, c.broken)
			}
		})
	}
}

// TestExplainedOnce: a write that happens twice is no answer to one request.
func TestExplainedOnce(t *testing.T) {
	t.Parallel()
	twice := NewTruth(map[string][]Event{kind: {{Added, Object{"a", "A", 10, 2}, false}, {Modified, Object{"a", "A", 11, 2}, false}}})
	h := &History{Writes: []Write{{kind, false, Object{"a", "A", 10, 2}, Acknowledged, 1, 2}}}
	if broken := Explained(h, twice); len(broken) != 1 {
		t.Errorf("%v", broken)
	}
}
