package object

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Options of a Store. Both are required.
type Options struct {
	Client corev1.CoreV1Interface
	// Changed is called with each pod that uses an object that changed. It must not block.
	Changed func(types.UID)
}

// Store holds the objects of one kubelet's pods.
type Store struct {
	options Options

	mu      sync.Mutex
	watches map[Reference]*watcher
	pods    map[types.UID][]Reference
	wait    sync.WaitGroup
}

// New returns an empty Store.
func New(options Options) *Store {
	return &Store{options: options, watches: map[Reference]*watcher{}, pods: map[types.UID][]Reference{}}
}

// Wait returns when the last watch has ended; watches end with the context that they were begun in.
func (s *Store) Wait() { s.wait.Wait() }

// Register watches what the pod uses, in ctx, until Unregister. A pod may be registered again after a change.
func (s *Store) Register(ctx context.Context, pod *v1.Pod) {
	references := References(pod)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, known := s.pods[pod.UID]; known && len(old) == len(references) {
		return // a pod's specification only ever gains ephemeral containers
	}
	s.pods[pod.UID] = references
	for _, reference := range references {
		w := s.watches[reference]
		if w == nil {
			w = s.watch(ctx, reference)
			s.watches[reference] = w
		}
		w.users[pod.UID] = true
	}
}

// Unregister ends the watches that only this pod needed.
func (s *Store) Unregister(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, reference := range s.pods[uid] {
		w := s.watches[reference]
		delete(w.users, uid)
		if len(w.users) == 0 {
			w.stop()
			delete(s.watches, reference)
		}
	}
	delete(s.pods, uid)
}

// changed tells the users of an object.
func (s *Store) changed(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range w.users {
		s.options.Changed(uid)
	}
}

// ConfigMap returns a ConfigMap. It must not be modified.
func (s *Store) ConfigMap(ctx context.Context, namespace, name string) (*v1.ConfigMap, error) {
	object, watched, err := s.get(ctx, Reference{ConfigMap, namespace, name})
	if err != nil {
		return nil, err
	}
	if !watched {
		configMap, err := s.options.Client.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		return configMap, named(err, ConfigMap, name)
	}
	configMap, ok := object.(*v1.ConfigMap)
	if !ok {
		return nil, notFound(ConfigMap, name)
	}
	return configMap, nil
}

// Secret returns a Secret. It must not be modified.
func (s *Store) Secret(ctx context.Context, namespace, name string) (*v1.Secret, error) {
	object, watched, err := s.get(ctx, Reference{Secret, namespace, name})
	if err != nil {
		return nil, err
	}
	if !watched {
		secret, err := s.options.Client.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		return secret, named(err, Secret, name)
	}
	secret, ok := object.(*v1.Secret)
	if !ok {
		return nil, notFound(Secret, name)
	}
	return secret, nil
}

// get returns the object as watched, once its watch has begun; nil for one that doesn't exist.
func (s *Store) get(ctx context.Context, reference Reference) (object any, watched bool, err error) {
	s.mu.Lock()
	w := s.watches[reference]
	s.mu.Unlock()
	if w == nil {
		return nil, false, nil
	}
	select {
	case <-w.synced:
		return w.current(), true, nil
	case <-ctx.Done():
		return nil, true, fmt.Errorf("waiting for %s %s/%s: %w", reference.Kind, reference.Namespace, reference.Name, ctx.Err())
	}
}

// named gives a missing object the name that upstream's watching kubelet gives it.
func named(err error, kind Kind, name string) error {
	if apierrors.IsNotFound(err) {
		return notFound(kind, name)
	}
	return err
}

func notFound(kind Kind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: string(kind)}, name)
}
