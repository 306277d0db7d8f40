package guarantees

import (
	"cmp"
	"fmt"
	"slices"
)

// Durable: what was acknowledged is there.
func Durable(h *History, t *Truth) (broken []string) {
	for _, w := range h.Writes {
		if w.Outcome != Acknowledged {
			continue
		}
		if w.Delete {
			if _, gone := t.Removal(w.Kind, w.Object.UID); !gone {
				broken = append(broken, fmt.Sprintf("the deletion of %s %+v was acknowledged and did not happen", w.Kind, w.Object))
			}
			continue
		}
		if e, ok := t.Event(w.Kind, w.Object.Version); !ok || e.Type == Deleted || e.Object != w.Object {
			broken = append(broken, fmt.Sprintf("write of %s %+v was acknowledged; at its version there is %+v", w.Kind, w.Object, e))
		}
	}
	return broken
}

// Explained: what is there was asked for, and once.
func Explained(h *History, t *Truth) (broken []string) {
	asked := map[string]bool{}
	for _, w := range h.Writes {
		if w.Outcome != Refused {
			asked[reason(w.Kind, w.Delete, w.Object)] = true
		}
	}
	for kind, l := range t.kinds {
		seen := map[string]bool{}
		for _, e := range l.events {
			why := reason(kind, e.Type == Deleted, e.Object)
			if !asked[why] {
				broken = append(broken, fmt.Sprintf("nobody asked for %s %+v", kind, e))
			}
			if seen[why] {
				broken = append(broken, fmt.Sprintf("%s %+v happened before", kind, e))
			}
			seen[why] = true
		}
	}
	return broken
}

func reason(kind string, deletion bool, o Object) string {
	if deletion {
		return fmt.Sprint(kind, " deletion of ", o.Name, o.UID)
	}
	return fmt.Sprint(kind, " write ", o.Write, " of ", o.Name)
}

// versioned are the acknowledged writes with their versions, those of deletions from the truth.
func versioned(h *History, t *Truth) []Write {
	var out []Write
	for _, w := range h.Writes {
		if w.Outcome != Acknowledged {
			continue
		}
		if w.Delete {
			version, gone := t.Removal(w.Kind, w.Object.UID)
			if !gone {
				continue // Durable tells of it
			}
			w.Object.Version = version
		}
		out = append(out, w)
	}
	return out
}

// RealTime: what began after another was acknowledged has a greater version, whatever the kinds.
func RealTime(h *History, t *Truth) (broken []string) {
	writes := slices.DeleteFunc(versioned(h, t), func(w Write) bool {
		// An object that is gone already may be deleted again: what is acknowledged is that it is gone.
		return w.Delete
	})
	byStart, byEnd := slices.Clone(writes), slices.Clone(writes)
	slices.SortFunc(byStart, func(a, b Write) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortFunc(byEnd, func(a, b Write) int { return cmp.Compare(a.End, b.End) })
	var latest Write
	i := 0
	for _, w := range byStart {
		for ; i < len(byEnd) && byEnd[i].End < w.Start; i++ {
			if byEnd[i].Object.Version > latest.Object.Version {
				latest = byEnd[i]
			}
		}
		if w.Object.Version <= latest.Object.Version {
			broken = append(broken, fmt.Sprintf("%+v began after %+v was acknowledged", w, latest))
		}
	}
	return broken
}
