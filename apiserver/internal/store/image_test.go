package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// content tells all keys with their values, in order.
func content(t *testing.T, s *store.Store) []string {
	t.Helper()
	p, err := s.Range(t.Context(), store.Prefix, store.PrefixEnd(store.Prefix), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, kv := range p.Items {
		out = append(out, kv.Key+"="+string(kv.Value))
	}
	return out
}

func create(t *testing.T, s *store.Store, key, value string) int64 {
	t.Helper()
	revision, err := s.Create(t.Context(), store.Prefix+key, []byte(value), 0)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// TestReplace takes a store back, in one revision that a watch sees whole; what is as it was stays untouched.
func TestReplace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		kept, changed, deleted := create(t, s, "kept", "1"), create(t, s, "changed", "1"), create(t, s, "deleted", "1")
		image, err := s.Image(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := content(t, s)
		if _, err := s.Update(ctx, store.Prefix+"changed", []byte("2"), changed, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Delete(ctx, store.Prefix+"deleted", deleted); err != nil {
			t.Fatal(err)
		}
		before := create(t, s, "new", "1")
		for range 2 { // the second time there is nothing to do
			if err := s.Replace(ctx, image); err != nil {
				t.Fatal(err)
			}
		}
		if got := content(t, s); !slices.Equal(got, want) {
			t.Errorf("holds %q, not %q", got, want)
		}
		if now, err := s.Latest(ctx); err != nil || now != before+1 {
			t.Errorf("revision %d, %v after %d", now, err, before)
		}
		if p, err := s.Range(ctx, store.Prefix+"kept", store.Prefix+"kept\x00", 1, 0); err != nil || p.Items[0].Revision != kept {
			t.Errorf("%+v, %v: not as it was at %d", p, err, kept)
		}
		told := map[string]bool{}
		err = s.Watch(ctx, store.Prefix, before, true, func(seen int64, changes []store.Change) error {
			for _, c := range changes {
				told[fmt.Sprintf("%s deleted=%v created=%v from %s", c.Key, c.Deleted, c.Created, c.Previous)] = true
			}
			if seen > before {
				return errEnough
			}
			return nil
		})
		if err != errEnough || len(told) != 3 || !told["/registry/changed deleted=false created=false from 2"] ||
			!told["/registry/deleted deleted=false created=true from "] || !told["/registry/new deleted=true created=false from 1"] {
			t.Errorf("told %v, %v", told, err)
		}
	})
}

var errEnough = fmt.Errorf("enough")

// TestImageFile brings an image into a file and back, and then into a store.
func TestImageFile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		create(t, s, "a", "1")
		last := create(t, s, "b/c", "\x00\xff")
		image, err := s.Image(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if n, err := image.WriteTo(&file); err != nil || n != int64(file.Len()) {
			t.Fatalf("%d of %d bytes, %v", n, file.Len(), err)
		}
		whole := file.Bytes()
		if image, err = store.ReadImage(bytes.NewReader(whole)); err != nil || image.Revision != last || image.Len() != 2 {
			t.Fatalf("%+v, %v", image, err)
		}
		other, err := store.Open(t.Context(), store.Options{Memory: true, From: image})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if got := content(t, other); !slices.Equal(got, content(t, s)) {
			t.Errorf("%q", got)
		}
		if revision := create(t, other, "d", "1"); revision != last+1 {
			t.Errorf("goes on at %d after %d", revision, last)
		}
		for _, broken := range [][]byte{nil, whole[:20], whole[:len(whole)-3], []byte("something else altogether")} {
			if _, err := store.ReadImage(bytes.NewReader(broken)); err == nil {
				t.Errorf("%d bytes of %d were read", len(broken), len(whole))
			}
		}
	})
}

// TestForksAreApart: two stores with one origin don't see each other's changes.
func TestForksAreApart(t *testing.T) {
	t.Parallel()
	parent, err := store.Open(t.Context(), store.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	create(t, parent, "a", "1")
	image, err := parent.Image(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fork, err := store.Open(t.Context(), store.Options{Memory: true, From: image})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	create(t, parent, "of-parent", "1")
	create(t, fork, "of-fork", "1")
	if got := content(t, parent); !slices.Equal(got, []string{"/registry/a=1", "/registry/of-parent=1"}) {
		t.Errorf("parent %q", got)
	}
	if got := content(t, fork); !slices.Equal(got, []string{"/registry/a=1", "/registry/of-fork=1"}) {
		t.Errorf("fork %q", got)
	}
	if image.Len() != 1 {
		t.Errorf("the image has %d keys", image.Len())
	}
}

// TestTimeToLive: a key in memory goes when the clock says so, unless it was written anew.
func TestTimeToLive(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakeClock(time.Now())
	s, err := store.Open(t.Context(), store.Options{Memory: true, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	renewed, err := s.Create(ctx, store.Prefix+"renewed", nil, 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, store.Prefix+"short", nil, 60); err != nil {
		t.Fatal(err)
	}
	if renewed, err = s.Update(ctx, store.Prefix+"renewed", nil, renewed, 600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan string)
	go func() {
		_ = s.Watch(ctx, store.Prefix, renewed, true, func(_ int64, changes []store.Change) error {
			for _, c := range changes {
				gone <- fmt.Sprint(c.Key, c.Deleted)
			}
			return nil
		})
	}()
	for _, want := range []string{"/registry/shorttrue", "/registry/renewedtrue"} {
		// The store may be about to wait: the clock goes on until it noticed.
		for got := ""; got != want; {
			clock.Step(30 * time.Second)
			select {
			case got = <-gone:
				if got != want {
					t.Fatalf("%s, not %s", got, want)
				}
			case <-time.After(time.Millisecond):
			}
		}
	}
}
