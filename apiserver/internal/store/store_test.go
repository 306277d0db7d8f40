package store_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir, UnsafeNoFsync: true, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test on each engine.
func each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	for name, options := range map[string]store.Options{"etcd": {Dir: t.TempDir(), UnsafeNoFsync: true}, "memory": {Memory: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
			s, err := store.Open(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, s)
		})
	}
}

func TestWritesCompareRevisions(t *testing.T) {
	t.Parallel()
	each(t, writesCompareRevisions)
}

func writesCompareRevisions(t *testing.T, s *store.Store) {
	ctx := t.Context()
	one, err := s.Create(ctx, "/registry/x", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "/registry/x", []byte("2"), 0); !errors.Is(err, store.ErrExists) {
		t.Errorf("second create: %v", err)
	}
	two, err := s.Update(ctx, "/registry/x", []byte("2"), one, 0)
	if err != nil || two <= one {
		t.Errorf("update: %d, %v", two, err)
	}
	var stale *store.ConflictError
	if _, err := s.Update(ctx, "/registry/x", []byte("3"), one, 0); !errors.As(err, &stale) || stale.Current.Revision != two || string(stale.Current.Value) != "2" {
		t.Errorf("stale update: %v", err)
	}
	if _, err := s.Delete(ctx, "/registry/x", one); !errors.As(err, &stale) {
		t.Errorf("stale delete: %v", err)
	}
	if _, err := s.Delete(ctx, "/registry/x", two); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := s.Delete(ctx, "/registry/x", two); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("second delete: %v", err)
	}
}

func TestRangePagesAndRevisions(t *testing.T) {
	t.Parallel()
	each(t, rangePagesAndRevisions)
}

func rangePagesAndRevisions(t *testing.T, s *store.Store) {
	ctx := t.Context()
	var last int64
	for _, k := range []string{"a", "b", "c"} {
		rev, err := s.Create(ctx, "/registry/"+k, []byte(k), 0)
		if err != nil {
			t.Fatal(err)
		}
		last = rev
	}
	p, err := s.Range(ctx, "/registry/", store.PrefixEnd("/registry/"), 2, 0)
	if err != nil || len(p.Items) != 2 || p.More != 1 || p.Revision != last {
		t.Errorf("page %+v, %v", p, err)
	}
	if p, err = s.Range(ctx, "/registry/", store.PrefixEnd("/registry/"), 0, last-1); err != nil || len(p.Items) != 2 {
		t.Errorf("at an older revision: %+v, %v", p, err)
	}
	if _, err = s.Range(ctx, "/registry/", store.PrefixEnd("/registry/"), 0, last+100); !errors.Is(err, store.ErrFuture) {
		t.Errorf("in the future: %v", err)
	}
	if err := s.Compact(ctx, last); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx, last); err != nil {
		t.Errorf("compacting twice: %v", err)
	}
	if _, err = s.Range(ctx, "/registry/", store.PrefixEnd("/registry/"), 0, last-1); !errors.Is(err, store.ErrCompacted) {
		t.Errorf("compacted: %v", err)
	}
}

// TestReopenKeepsEverything: the revision never goes back, and neither does what was written.
func TestReopenKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	rev, err := s.Create(t.Context(), "/registry/x", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if latest, err := s.Latest(t.Context()); err != nil || latest < rev {
		t.Errorf("latest %d after %d, %v", latest, rev, err)
	}
	p, err := s.Range(t.Context(), "/registry/x", "/registry/y", 0, 0)
	if err != nil || len(p.Items) != 1 || p.Items[0].Revision != rev {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestWatchFromACompaction: at its very revision etcd tells of a change, but not of what was there before. A deletion would be told
// of nothing, and a change would look like a creation.
func TestWatchFromACompaction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(s *store.Store, revision int64) (int64, error)
	}{
		{"an update", func(s *store.Store, rev int64) (int64, error) {
			return s.Update(t.Context(), "/registry/x", []byte("2"), rev, 0)
		}},
		{"a deletion", func(s *store.Store, rev int64) (int64, error) { return s.Delete(t.Context(), "/registry/x", rev) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *store.Store) {
				created, err := s.Create(t.Context(), "/registry/x", []byte("1"), 0)
				if err != nil {
					t.Fatal(err)
				}
				changed, err := c.change(s, created)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Compact(t.Context(), changed); err != nil {
					t.Fatal(err)
				}
				err = s.Watch(t.Context(), store.Prefix, created, true, func(_ int64, changes []store.Change) error {
					t.Errorf("told of %+v", changes)
					return errors.New("enough")
				})
				if !errors.Is(err, store.ErrCompacted) {
					t.Errorf("%v, want that it is compacted", err)
				}
			})
		})
	}
}
