package registry

import (
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// Several servers on one store never give a port twice, and each sees what the others give back.
func TestServersShareNodePorts(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), UnsafeNoFsync: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	const servers, each = 3, 10
	var mu sync.Mutex
	var given []int
	var all sync.WaitGroup
	for range servers {
		ports := &nodePorts{store: st, first: 30000, last: 30000 + servers*each - 1}
		all.Go(func() {
			for range each {
				var n int
				err := ports.change(t.Context(), func(set *portSet) (err error) {
					n, err = set.takeAny()
					return err
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				given = append(given, n)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(given)
	if n := len(slices.Compact(slices.Clone(given))); n != servers*each {
		t.Errorf("%d different of %d: %v", n, servers*each, given)
	}
	one, other := &nodePorts{store: st, first: 30000, last: 30029}, &nodePorts{store: st, first: 30000, last: 30029}
	take := func(set *portSet) error { return set.take(30007) }
	if err := one.change(t.Context(), take); err == nil {
		t.Error("a port that is taken was given")
	}
	if err := other.change(t.Context(), func(set *portSet) error { set.release(30007); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := one.change(t.Context(), take); err != nil {
		t.Errorf("another server gave it back: %v", err)
	}
}
