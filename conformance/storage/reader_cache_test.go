package storage

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
)

// cacheReader reads as clients do: through the registry, from the cache.
type cacheReader struct {
	cache    *cache.Cache
	registry *registry.Registry
	codec    cache.Codec
}

func kvOf(e *cache.Entry) *store.KV {
	if e == nil {
		return nil
	}
	return &store.KV{Key: e.Key, Value: e.Raw, Revision: e.Revision}
}

func (r *cacheReader) current(ctx context.Context, key string) (*store.KV, error) {
	if err := r.cache.Fresh(ctx); err != nil {
		return nil, err
	}
	return kvOf(r.registry.Collection().Get(key)), nil
}

func (r *cacheReader) settled(ctx context.Context, revision int64) error {
	return r.cache.WaitFor(ctx, revision)
}

func (r *cacheReader) revision(ctx context.Context) (int64, error) {
	err := r.cache.Fresh(ctx)
	return r.cache.Revision(), err
}

func (r *cacheReader) wrote(key string, raw []byte, revision int64) error {
	pod, err := r.codec.Object(raw, revision)
	if err != nil {
		return err
	}
	e := cache.NewEntry(r.codec, key, raw, pod)
	e.Revision = revision
	r.cache.Park(e)
	return nil
}

func (r *cacheReader) get(ctx context.Context, key, version string) (*store.KV, error) {
	at := placeOf(key, false, r.registry.Resource.Namespaced)
	if at.name == "" || (at.namespace == "" && r.registry.Resource.Namespaced) {
		return r.current(ctx, key) // no request has such a path
	}
	result, err := r.registry.Get(ctx, at.namespace, at.name, version)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return kvOf(result.Entry), nil
}

// options are what a request for the key has.
func (r *cacheReader) options(key string, o storage.ListOptions) (place, *internalversion.ListOptions) {
	at := placeOf(key, o.Recursive, r.registry.Resource.Namespaced)
	selector := o.Predicate.Field
	if selector == nil {
		selector = fields.Everything()
	}
	if at.named {
		selector = fields.AndSelectors(selector, fields.OneTermEqualSelector("metadata.name", at.name))
	}
	return at, &internalversion.ListOptions{
		LabelSelector: o.Predicate.Label, FieldSelector: selector, Limit: o.Predicate.Limit, Continue: o.Predicate.Continue,
		ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
		AllowWatchBookmarks: o.Predicate.AllowWatchBookmarks, SendInitialEvents: o.SendInitialEvents,
	}
}

func (r *cacheReader) list(ctx context.Context, key string, o storage.ListOptions, out *example.PodList) error {
	at, options := r.options(key, o)
	if errs := validation.ValidateListOptions(options, true); len(errs) > 0 { // as the handlers do
		return errs.ToAggregate()
	}
	list, err := r.registry.List(ctx, at.namespace, options)
	if err != nil {
		return err
	}
	for _, e := range list.Entries {
		pod, err := podOf(e)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, *pod)
	}
	return versioner.UpdateList(out, uint64(list.Revision), list.Continue, list.Remaining)
}

func podOf(e *cache.Entry) (*example.Pod, error) {
	obj, err := e.Object()
	if err != nil {
		return nil, err
	}
	return obj.(*example.Pod), nil
}

func (r *cacheReader) watch(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error) {
	at, options := r.options(key, o)
	w := newWatching(ctx)
	if ctx.Err() != nil {
		close(w.events)
		return w, nil
	}
	following, err := r.registry.Watch(w.ctx, at.namespace, options)
	if err != nil && !apierrors.IsResourceExpired(err) {
		w.Stop()
		return nil, err
	}
	go w.run(func(ctx context.Context, send func(watch.Event) error) error {
		if err != nil {
			return err // a version that is too old is told in the stream
		}
		defer following.Stop()
		return following.Follow(ctx, options.AllowWatchBookmarks, frames{send})
	})
	return w, nil
}

// frames makes a suite's events of what a watch tells.
type frames struct{ send func(watch.Event) error }

func (f frames) Entry(t watch.EventType, e *cache.Entry) error {
	pod, err := podOf(e)
	if err != nil {
		return err
	}
	return f.send(watch.Event{Type: t, Object: pod})
}

func (f frames) Bookmark(revision int64, initialEnd bool) error {
	return f.send(bookmark(revision, initialEnd))
}

func (f frames) Flush() error { return nil }

// revisionOf reads an object's version.
func revisionOf(version string) (int64, error) { return strconv.ParseInt(version, 10, 64) }
