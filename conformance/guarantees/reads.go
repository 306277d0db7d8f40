package guarantees

import (
	"cmp"
	"fmt"
	"slices"
)

// Fresh: a read without a version holds all that was acknowledged before it began.
func Fresh(h *History, t *Truth) (broken []string) {
	writes, reads := versioned(h, t), slices.Clone(h.Reads)
	slices.SortFunc(writes, func(a, b Write) int { return cmp.Compare(a.End, b.End) })
	slices.SortFunc(reads, func(a, b Read) int { return cmp.Compare(a.Start, b.Start) })
	type object struct{ kind, name string }
	// latest acknowledged version of each object, and under the empty name of each kind.
	latest := map[object]int64{}
	i := 0
	for _, r := range reads {
		for ; i < len(writes) && writes[i].End < r.Start; i++ {
			w := writes[i]
			for _, of := range []object{{w.Kind, w.Object.Name}, {w.Kind, ""}} {
				latest[of] = max(latest[of], w.Object.Version)
			}
		}
		if r.Get && !freshGet(t, r, latest[object{r.Kind, r.Filter.Name}]) || !r.Get && r.Version < latest[object{r.Kind, ""}] {
			broken = append(broken, fmt.Sprintf("%+v lacks what was acknowledged at %d", r, max(latest[object{r.Kind, r.Filter.Name}], latest[object{r.Kind, ""}])))
		}
	}
	return broken
}

// freshGet says whether a get may give what it gave after a version was acknowledged.
func freshGet(t *Truth, r Read, version int64) bool {
	if len(r.Items) > 0 {
		return r.Items[0].Version >= version
	}
	return absentSince(t, r.Kind, r.Filter.Name, version)
}

// absentSince says whether there is no object of the name at the version or some time later.
func absentSince(t *Truth, kind, name string, version int64) bool {
	if _, there := t.At(kind, name, version); !there {
		return true
	}
	return slices.ContainsFunc(t.of(kind).states[name], func(o Object) bool { return o.Version > version && o.UID == "" })
}

// Consistent: a list holds exactly the state of its version; a get one that was.
func Consistent(h *History, t *Truth) (broken []string) {
	for _, r := range h.Reads {
		if r.Get {
			for _, o := range r.Items {
				if was, ok := t.At(r.Kind, o.Name, o.Version); !ok || was != o {
					broken = append(broken, fmt.Sprintf("get gave %s %+v; at its version there is %+v", r.Kind, o, was))
				}
			}
			continue
		}
		items := slices.Clone(r.Items)
		slices.SortFunc(items, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
		if want := t.Objects(r.Kind, r.Filter, r.Version); !slices.Equal(items, want) {
			broken = append(broken, fmt.Sprintf("list of %s %+v at %d gave %+v, want %+v", r.Kind, r.Filter, r.Version, items, want))
		}
	}
	return broken
}

// Monotonic: a list is of no older version than a list that was over before it began.
func Monotonic(h *History, _ *Truth) (broken []string) {
	lists := slices.DeleteFunc(slices.Clone(h.Reads), func(r Read) bool { return r.Get })
	byEnd := slices.Clone(lists)
	slices.SortFunc(lists, func(a, b Read) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortFunc(byEnd, func(a, b Read) int { return cmp.Compare(a.End, b.End) })
	var latest int64
	i := 0
	for _, r := range lists {
		for ; i < len(byEnd) && byEnd[i].End < r.Start; i++ {
			latest = max(latest, byEnd[i].Version)
		}
		if r.Version < latest {
			broken = append(broken, fmt.Sprintf("list of %s %+v at %d, after one at %d", r.Kind, r.Filter, r.Version, latest))
		}
	}
	return broken
}
