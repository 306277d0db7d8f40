package cache_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// codec keeps ConfigMaps as bare protobuf.
type codec struct{}

func (codec) Object(raw []byte, revision int64) (runtime.Object, error) {
	c := &corev1.ConfigMap{}
	err := c.Unmarshal(raw)
	c.ResourceVersion = strconv.FormatInt(revision, 10)
	return c, err
}

func (codec) Describe(obj runtime.Object) cache.Description {
	c := obj.(*corev1.ConfigMap)
	return cache.Description{Namespace: c.Namespace, Name: c.Name, Labels: c.Labels, Fields: fields.Set{"metadata.name": c.Name, "spec.nodeName": c.Data["node"]}}
}

const prefix = "/registry/configmaps/"

type world struct {
	t     testing.TB
	store *store.Store
	cache *cache.Cache
	col   *cache.Collection
}

// onEach runs a test with a cache on a store of its own, of each kind.
func onEach(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for name, dir := range map[string]string{"etcd": t.TempDir(), "memory": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, stop := openWorld(t, dir)
			t.Cleanup(stop)
			test(t, w)
		})
	}
}

// openWorld opens the store of a folder, or one in memory, with a cache on it, until stop is called.
func openWorld(t testing.TB, dir string) (w *world, stop func()) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := store.Open(t.Context(), store.Options{Memory: dir == "", Dir: dir, UnsafeNoFsync: true, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	c := cache.New(cache.Options{Store: s, Codecs: map[string]cache.Codec{prefix: codec{}}, Logger: log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = func() {
		cancel()
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-c.Ready():
	case <-t.Context().Done():
		stop()
		t.Fatal("not ready")
	}
	return &world{t, s, c, c.Collection(prefix)}, stop
}

func object(ns, name, value string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{Data: map[string]string{"value": value, "node": value}}
	c.Namespace, c.Name, c.Labels = ns, name, map[string]string{"value": value}
	return c
}

// put writes as a registry does: the entry is parked for its event when parked is set.
func (w *world) put(ns, name, value string, parked bool) int64 {
	w.t.Helper()
	obj := object(ns, name, value)
	raw, err := obj.Marshal()
	if err != nil {
		w.t.Fatal(err)
	}
	key := prefix + ns + "/" + name
	var rev int64
	if old := w.get(ns, name); old != nil {
		rev, err = w.store.Update(w.t.Context(), key, raw, old.Revision, 0)
	} else {
		rev, err = w.store.Create(w.t.Context(), key, raw, 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if parked {
		e := cache.NewEntry(codec{}, key, raw, obj)
		e.Revision = rev
		w.cache.Park(e)
	}
	return rev
}

func (w *world) get(ns, name string) *cache.Entry {
	w.t.Helper()
	if err := w.cache.Fresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.col.Get(prefix + ns + "/" + name)
}

func (w *world) remove(ns, name string) int64 {
	w.t.Helper()
	rev, err := w.store.Delete(w.t.Context(), prefix+ns+"/"+name, w.get(ns, name).Revision)
	if err != nil {
		w.t.Fatal(err)
	}
	return rev
}

// next reads n events.
func next(t *testing.T, watcher *cache.Watcher, n int) []*cache.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var out []*cache.Event
	for len(out) < n {
		events, err := watcher.Next(ctx)
		if err != nil {
			t.Fatalf("after %d of %d events: %v", len(out), n, err)
		}
		out = append(out, events...)
	}
	return out
}

func TestReadsAreFresh(t *testing.T) {
	t.Parallel()
	onEach(t, readsAreFresh)
}

func readsAreFresh(t *testing.T, w *world) {
	for i := range 200 {
		rev := w.put("n", "a", strconv.Itoa(i), i%2 == 0)
		e := w.get("n", "a")
		if e == nil || e.Revision != rev || e.Labels["value"] != strconv.Itoa(i) {
			t.Fatalf("after write %d at %d: %+v", i, rev, e)
		}
		if s := w.col.Snapshot(); s.Revision < rev {
			t.Fatalf("snapshot at %d after a write at %d", s.Revision, rev)
		}
	}
}

func TestSnapshotsStayAsTheyWere(t *testing.T) {
	t.Parallel()
	onEach(t, snapshotsStayAsTheyWere)
}

func snapshotsStayAsTheyWere(t *testing.T, w *world) {
	for i := range 10 {
		w.put("n", fmt.Sprintf("a%d", i), "1", true)
	}
	w.get("n", "a0")
	s := w.col.Snapshot()
	w.put("n", "a3", "2", true)
	w.remove("n", "a4")
	w.put("n", "a99", "1", true)
	w.get("n", "a99")
	count := 0
	s.Ascend(prefix, prefix, func(e *cache.Entry) bool {
		if count++; e.Labels["value"] != "1" {
			t.Errorf("%s changed in the snapshot", e.Key)
		}
		return true
	})
	if count != 10 {
		t.Errorf("%d entries", count)
	}
}

// TestWatch names what a watch guarantees: ordered, unique, reliable, filtered.
func TestWatch(t *testing.T) {
	t.Parallel()
	onEach(t, watch)
}

func watch(t *testing.T, w *world) {
	start := w.put("n", "first", "0", true)
	w.get("n", "first")
	all, err := w.col.Watch(t.Context(), start, cache.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.col.Stop(all)
	odd, err := w.col.Watch(t.Context(), start, cache.Filter{Labels: labels.SelectorFromSet(labels.Set{"value": "1"})})
	if err != nil {
		t.Fatal(err)
	}
	defer w.col.Stop(odd)
	onNode, err := w.col.Watch(t.Context(), start, cache.Filter{Fields: fields.OneTermEqualSelector("spec.nodeName", "1")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.col.Stop(onNode)
	for i := range 6 { // values 0 1 0 1 0 1
		w.put("n", "a", strconv.Itoa(i%2), i%3 == 0)
	}
	w.remove("n", "a")

	last := start
	for i, e := range next(t, all, 7) {
		if e.Revision != last+1 {
			t.Errorf("event %d at %d after %d", i, e.Revision, last)
		}
		last = e.Revision
	}
	for _, watcher := range []*cache.Watcher{odd, onNode} {
		f := cache.Filter{Labels: labels.SelectorFromSet(labels.Set{"value": "1"})}
		var got string
		for _, e := range next(t, watcher, 6) {
			switch now, before := f.Matches(e.Entry), f.Matches(e.Previous); {
			case now && !before:
				got += "+"
			case before && !now:
				got += "-"
				if g := e.Gone(); g.Revision != e.Revision || g.Labels["value"] != "1" {
					t.Errorf("what left is shown as %v at %d", g.Labels, g.Revision)
				}
			}
		}
		if got != "+-+-+-" {
			t.Errorf("selected transitions %s", got)
		}
	}
}

// TestWatchResumesFromEtcd: what the ring no longer has is read from etcd, until it is compacted.
func TestWatchResumesFromEtcd(t *testing.T) {
	t.Parallel()
	onEach(t, watchResumesFromEtcd)
}

func watchResumesFromEtcd(t *testing.T, w *world) {
	start := w.put("n", "a", "0", true)
	const many = 5000 // more than the ring keeps
	for i := 1; i <= many; i++ {
		w.put("n", "a", strconv.Itoa(i), true)
	}
	w.get("n", "a")
	watcher, err := w.col.Watch(t.Context(), start, cache.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.col.Stop(watcher)
	for i, e := range next(t, watcher, many) {
		if want := strconv.Itoa(i + 1); e.Entry.Labels["value"] != want || e.Previous.Labels["value"] != strconv.Itoa(i) {
			t.Fatalf("event %d is %v after %v", i, e.Entry.Labels, e.Previous.Labels)
		}
	}
	if err := w.store.Compact(t.Context(), start+100); err != nil {
		t.Fatal(err)
	}
	if _, err := w.col.Watch(t.Context(), start, cache.Filter{}); !errors.Is(err, store.ErrCompacted) {
		t.Errorf("watch of a compacted revision: %v", err)
	}
}

// TestSlowWatcherIsEnded: a watcher that does not read costs bounded memory, and its client is told to resume.
func TestSlowWatcherIsEnded(t *testing.T) {
	t.Parallel()
	onEach(t, slowWatcherIsEnded)
}

func slowWatcherIsEnded(t *testing.T, w *world) {
	start := w.put("n", "a", "0", true)
	w.get("n", "a")
	slow, err := w.col.Watch(t.Context(), start, cache.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9000 {
		w.put("n", "a", strconv.Itoa(i+1), true)
	}
	w.get("n", "a")
	for {
		if _, err := slow.Next(t.Context()); err != nil {
			if !errors.Is(err, cache.ErrEnded) {
				t.Errorf("got %v", err)
			}
			return
		}
	}
}

func TestFutureRevisionWaits(t *testing.T) {
	t.Parallel()
	onEach(t, futureRevisionWaits)
}

func futureRevisionWaits(t *testing.T, w *world) {
	now := w.put("n", "a", "0", true)
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- w.cache.WaitFor(ctx, now+1) }()
	w.put("n", "a", "1", true)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	cancel()
	if err := w.cache.WaitFor(ctx, now+100); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(b.Context(), store.Options{Dir: b.TempDir(), UnsafeNoFsync: true, Logger: log})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	raw, err := object("n", "a", "1").Marshal()
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := s.Create(b.Context(), prefix+"n/"+strconv.Itoa(i), raw, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWatchOfAQuietCollection: after a restart memory holds nothing of the time before. Who comes again with a version from then is
// told at once of what comes, although nothing changed since.
func TestWatchOfAQuietCollection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, stop := openWorld(t, dir)
	first := w.put("n", "a", "1", true)
	if _, err := w.store.Create(t.Context(), "/registry/elsewhere", []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	stop()
	w, stop = openWorld(t, dir)
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	watcher, err := w.col.Watch(ctx, first, cache.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.col.Stop(watcher)
	for watcher.Replaying() {
		quiet, cancelQuiet := context.WithTimeout(ctx, 20*time.Millisecond)
		events, err := watcher.Next(quiet)
		cancelQuiet()
		if len(events) > 0 || ctx.Err() != nil {
			t.Fatalf("%v, %v", events, err)
		}
	}
	second := w.put("n", "b", "2", true)
	if events := next(t, watcher, 1); events[0].Revision != second {
		t.Errorf("told of %d, want %d", events[0].Revision, second)
	}
}
