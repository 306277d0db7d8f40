package cache_test

import (
	"errors"
	"testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// TestUnreadable: a value that is no object is no deletion.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	onEach(t, unreadable)
}

func unreadable(t *testing.T, w *world) {
	start := w.put("n", "a", "1", true)
	w.put("n", "b", "1", true)
	w.get("n", "b")
	watcher, err := w.col.Watch(t.Context(), start, cache.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.col.Stop(watcher)
	const key = prefix + "n/a"
	lost, err := w.store.Update(t.Context(), key, []byte("garbage"), start, 0)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		var events []*cache.Event
		events, err = watcher.Next(t.Context())
		for _, e := range events {
			if e.Entry == nil {
				t.Errorf("a deletion of %s", e.Previous.Key)
			}
		}
	}
	if !errors.Is(err, cache.ErrEnded) {
		t.Errorf("the watcher: %v", err)
	}
	if w.get("n", "a") != nil {
		t.Error("an object made of garbage")
	}
	var at *cache.UnreadableError
	if err := w.col.UnreadableAt(key); !errors.As(err, &at) || at.Revision != lost || at.Key != key {
		t.Errorf("%v", err)
	}
	if all := w.col.Unreadable(prefix); len(all) != 1 {
		t.Errorf("%v", all)
	}
	if all := w.col.Unreadable(prefix + "m/"); len(all) != 0 || w.col.UnreadableAt(prefix+"n/b") != nil {
		t.Errorf("%v", all)
	}
	if _, err := w.store.Delete(t.Context(), key, lost); err != nil {
		t.Fatal(err)
	}
	w.put("n", "a", "2", false)
	if w.get("n", "a") == nil || len(w.col.Unreadable(prefix)) != 0 {
		t.Error("an object in its place is not served")
	}
}
