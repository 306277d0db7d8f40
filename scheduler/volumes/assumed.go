package volumes

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// assumed lays objects that we are about to write over those that a watch has shown. One is
// in force until the watch shows another version. It is safe for concurrent use.
type assumed[T metav1.Object] struct {
	get func(namespace, name string) (T, error)

	mu    sync.Mutex
	byKey map[string]T
}

func newAssumed[T metav1.Object](get func(namespace, name string) (T, error)) *assumed[T] {
	return &assumed[T]{get: get, byKey: map[string]T{}}
}

func keyOf(object metav1.Object) string { return toolscache.MetaObjectToName(object).String() }

// Get gives the assumed object, or the watch's.
func (a *assumed[T]) Get(namespace, name string) (T, error) {
	seen, err := a.get(namespace, name)
	if err != nil {
		return seen, err
	}
	return a.over(seen), nil
}

// over gives what lies over an object.
func (a *assumed[T]) over(seen T) T {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := keyOf(seen)
	ours, ok := a.byKey[key]
	if !ok {
		return seen
	}
	if ours.GetResourceVersion() != seen.GetResourceVersion() {
		delete(a.byKey, key) // it was written, or another was
		return seen
	}
	return ours
}

// Assume lays an object over the version that it was made from, which must be the latest.
func (a *assumed[T]) Assume(object T) error {
	seen, err := a.get(object.GetNamespace(), object.GetName())
	if err != nil {
		return err
	}
	if seen.GetResourceVersion() != object.GetResourceVersion() {
		return fmt.Errorf("%q is out of sync (stored: %s, assume: %s)", keyOf(object), seen.GetResourceVersion(), object.GetResourceVersion())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byKey[keyOf(object)] = object
	return nil
}

// Revert takes an object away, unless a later one lies there.
func (a *assumed[T]) Revert(object T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := keyOf(object)
	if ours, ok := a.byKey[key]; ok && ours.GetResourceVersion() == object.GetResourceVersion() {
		delete(a.byKey, key)
	}
}
