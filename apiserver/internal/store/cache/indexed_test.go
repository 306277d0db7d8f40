package cache_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// ofNode is the filter of a kubelet's lists and watches.
func ofNode(name string) *cache.Filter {
	return &cache.Filter{Fields: fields.OneTermEqualSelector(cache.IndexedField, name)}
}

// selected are the keys that a snapshot shows, by the index and by a look at all.
func selected(s cache.Snapshot, f *cache.Filter, prefix, from string) (indexed, all []string) {
	s.AscendSelected(f, prefix, from, func(e *cache.Entry) bool {
		indexed = append(indexed, e.Key)
		return true
	})
	s.Ascend(prefix, from, func(e *cache.Entry) bool {
		if f.Matches(e) {
			all = append(all, e.Key)
		}
		return true
	})
	return indexed, all
}

func TestAscendSelected(t *testing.T) {
	t.Parallel()
	onEach(t, ascendSelected)
}

func ascendSelected(t *testing.T, w *world) {
	for _, ns := range []string{"m", "n", "nn"} {
		for i := range 6 {
			w.put(ns, fmt.Sprintf("a%d", i), []string{"", "1", "11"}[i%3], i%2 == 0)
		}
	}
	w.get("n", "a0")
	before := w.col.Snapshot()
	was, _ := selected(before, ofNode("1"), prefix, "")

	w.put("n", "a1", "11", true) // moves
	w.put("n", "a3", "1", true)  // is bound
	w.put("m", "a4", "1", true)  // stays, changed
	w.remove("nn", "a1")
	w.get("n", "a0")
	now := w.col.Snapshot()

	excluded := &cache.Filter{Fields: fields.OneTermNotEqualSelector(cache.IndexedField, "1")}
	for _, f := range []*cache.Filter{ofNode("1"), ofNode("11"), ofNode("111"), ofNode(""), excluded, {Namespace: "n"}, {}} {
		for _, prefix := range []string{prefix, prefix + "n/"} {
			for _, from := range []string{"", prefix, prefix + "a4", prefix + "n/a2"} {
				if indexed, all := selected(now, f, prefix, from); !slices.Equal(indexed, all) {
					t.Errorf("%+v below %s from %q: %v, not %v", f, prefix, from, indexed, all)
				}
			}
		}
	}
	if still, _ := selected(before, ofNode("1"), prefix, ""); len(was) != 6 || !slices.Equal(still, was) {
		t.Errorf("the snapshot showed %v and shows %v", was, still)
	}
	want := []string{"m/a1", "m/a4", "n/a3", "n/a4", "nn/a4"}
	for i := range want {
		want[i] = prefix + want[i]
	}
	if got, _ := selected(now, ofNode("1"), prefix, ""); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// BenchmarkAscendSelected finds the 10 objects of one node of 300.
func BenchmarkAscendSelected(b *testing.B) {
	w, stop := openWorld(b, "")
	defer stop()
	for i := range 3000 {
		w.put("n", fmt.Sprintf("a%d", i), fmt.Sprintf("node-%d", i%300), true)
	}
	w.get("n", "a0")
	f := ofNode("node-7")
	for b.Loop() {
		n := 0
		w.col.Snapshot().AscendSelected(f, prefix, "", func(*cache.Entry) bool { n++; return true })
		if n != 10 {
			b.Fatal(n)
		}
	}
}
