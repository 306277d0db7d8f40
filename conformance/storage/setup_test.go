package storage

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/apis/example"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// world is a store of a test's own with an adapter on it.
type world struct {
	*adapter
	cache *cache.Cache // nil when the store itself is read
}

// openStore opens a store in memory, or an etcd.
func openStore(t testing.TB, memory bool) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Memory: memory, Dir: t.TempDir(), UnsafeNoFsync: true, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onStore reads the store itself.
func onStore(t testing.TB, memory bool) *world {
	t.Helper()
	s, f := openStore(t, memory), newForm()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{adapter: &adapter{form: f, store: s, reader: &storeReader{f, s}}}
}

// onCache reads the cache through a registry.
func onCache(t testing.TB, memory bool) *world { return cached(t, memory, true) }

// onClusterCache is onCache for pods without a namespace.
func onClusterCache(t testing.TB, memory bool) *world { return cached(t, memory, false) }

func cached(t testing.TB, memory, namespaced bool) *world {
	t.Helper()
	s, f := openStore(t, memory), newForm()
	pods := podResource(f, namespaced)
	codec := registry.NewCodec(pods)
	c := cache.New(cache.Options{Store: s, Codecs: map[string]cache.Codec{pods.Prefix: codec}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
	})
	<-c.Ready()
	r, err := registry.New(registry.Options{
		Resource: pods, Codec: codec, Store: s, Cache: c, Now: time.Now,
		Managers: &registry.Managers{Types: managedfields.NewDeducedTypeConverter()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &world{cache: c, adapter: &adapter{form: f, store: s, reader: &cacheReader{cache: c, registry: r, codec: codec}}}
}

// podResource is the suites' pod as the registry knows kinds.
func podResource(f *form, namespaced bool) *resource.Resource {
	return &resource.Resource{
		Name:    resource.Name{Group: example.GroupName, Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: namespaced},
		New:     func() resource.Object { return &example.Pod{} },
		NewList: func() runtime.Object { return &example.PodList{} },
		Prefix:  keyPrefix,
		Form: &resource.Form{
			Marshal: func(obj resource.Object) ([]byte, error) {
				_, raw, err := f.encode(context.Background(), keyPrefix, obj)
				return raw, err
			},
			Unmarshal: func(raw []byte) (resource.Object, error) { return f.pod(context.Background(), keyPrefix, raw, 0) },
		},
		Fields: func(obj resource.Object) fields.Set { return podFields(obj.(*example.Pod)) },
	}
}

// elsewhere is a key of no collection that is read.
const elsewhere = store.Prefix + "elsewhere"

// increase makes a write that concerns no pod, and returns its revision once a read would give it.
func (w *world) increase(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	revision, err := w.store.Create(ctx, elsewhere, []byte("x"), 0)
	var stale *store.ConflictError
	if errors.Is(err, store.ErrExists) {
		if _, err = w.store.Update(ctx, elsewhere, nil, 1, 0); errors.As(err, &stale) {
			revision, err = w.store.Update(ctx, elsewhere, []byte("x"), stale.Current.Revision, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.settled(ctx, revision); err != nil {
		t.Fatal(err)
	}
	return revision
}

// compact forgets what was before a version.
func (w *world) compact(ctx context.Context, t *testing.T, version string) {
	t.Helper()
	revision, err := revisionOf(version)
	if err != nil {
		t.Fatal(err)
	}
	w.increase(ctx, t) // upstream's way to compact is to write so
	if err := w.store.Compact(ctx, revision); err != nil {
		t.Fatal(err)
	}
	w.compacted.Store(revision)
}

// stored checks what a suite wants of every stored value: neither version nor link.
func (w *world) stored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	key, err := storeKey(key, false)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := w.current(ctx, key)
	if err != nil || kv == nil {
		t.Fatalf("%s: %v, %v", key, kv, err)
	}
	data, _, err := w.form.plain(ctx, key, kv.Value)
	if err != nil {
		t.Fatal(err)
	}
	pod := &example.Pod{}
	if _, _, err := w.form.codec.Decode(data, nil, pod); err != nil {
		t.Fatal(err)
	}
	if pod.ResourceVersion != "" || pod.SelfLink != "" {
		t.Errorf("%s is stored with version %q and link %q", key, pod.ResourceVersion, pod.SelfLink)
	}
}

func uncounted(*testing.T, uint64, uint64) {}

var _ storagetesting.CallsValidation = uncounted

// compactAndForget is compact after which memory, too, holds nothing older: the cache reads the pods anew.
func (w *world) compactAndForget(ctx context.Context, t *testing.T, version string) {
	t.Helper()
	w.compact(ctx, t, version)
	if err := w.cache.Add(ctx, keyPrefix, w.cache.Collection(keyPrefix).Codec()); err != nil {
		t.Fatal(err)
	}
}
