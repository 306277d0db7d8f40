package object

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// watcher follows one object. It is the store of a reflector, which lists, watches and recovers.
type watcher struct {
	cache.Store // what a reflector of one object never calls
	store       *Store
	users       map[types.UID]bool // guarded by the store's lock
	stop        context.CancelFunc
	synced      chan struct{}
	once        sync.Once

	mu     sync.Mutex
	object any
}

func (s *Store) watch(ctx context.Context, reference Reference) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{store: s, users: map[types.UID]bool{}, stop: cancel, synced: make(chan struct{})}
	selector := fields.OneTermEqualSelector("metadata.name", reference.Name).String()
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			if reference.Kind == Secret {
				return s.options.Client.Secrets(reference.Namespace).List(ctx, options)
			}
			return s.options.Client.ConfigMaps(reference.Namespace).List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = selector
			if reference.Kind == Secret {
				return s.options.Client.Secrets(reference.Namespace).Watch(ctx, options)
			}
			return s.options.Client.ConfigMaps(reference.Namespace).Watch(ctx, options)
		},
	}
	var kind runtime.Object = &v1.ConfigMap{}
	if reference.Kind == Secret {
		kind = &v1.Secret{}
	}
	reflector := cache.NewReflectorWithOptions(listWatch, kind, w, cache.ReflectorOptions{Name: string(reference.Kind) + " " + reference.Namespace + "/" + reference.Name})
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		reflector.RunWithContext(ctx)
	}()
	return w
}

func (w *watcher) current() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.object
}

func (w *watcher) set(object any) {
	w.mu.Lock()
	first := true
	select {
	case <-w.synced:
		first = false
	default:
	}
	changed := w.object != nil || object != nil
	w.object = object
	w.mu.Unlock()
	w.once.Do(func() { close(w.synced) })
	if changed && !first {
		w.store.changed(w)
	}
	if immutable(object) {
		w.stop()
	}
}

func immutable(object any) bool {
	switch o := object.(type) {
	case *v1.ConfigMap:
		return o.Immutable != nil && *o.Immutable
	case *v1.Secret:
		return o.Immutable != nil && *o.Immutable
	default:
		return false
	}
}

// Add implements cache.Store.
func (w *watcher) Add(object any) error { w.set(object); return nil }

// Update implements cache.Store.
func (w *watcher) Update(object any) error { w.set(object); return nil }

// Delete implements cache.Store.
func (w *watcher) Delete(any) error { w.set(nil); return nil }

// Replace implements cache.Store.
func (w *watcher) Replace(objects []any, _ string) error {
	if len(objects) == 0 {
		w.set(nil)
		return nil
	}
	w.set(objects[0])
	return nil
}

// Resync implements cache.Store.
func (w *watcher) Resync() error { return nil }
