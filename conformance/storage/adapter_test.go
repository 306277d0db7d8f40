package storage

import (
	"context"
	"errors"

	"reflect"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// reader is where an adapter's reads come from: the store itself, or the cache.
type reader interface {
	// current gives a key's value as of all that was acknowledged; nil if there is none.
	current(ctx context.Context, key string) (*store.KV, error)
	// settled returns when a read gives what is at least of the revision.
	settled(ctx context.Context, revision int64) error
	// get gives a key's value, no older than the version; nil if there is none.
	get(ctx context.Context, key, version string) (*store.KV, error)
	list(ctx context.Context, key string, o storage.ListOptions, out *example.PodList) error
	watch(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error)
	revision(ctx context.Context) (int64, error)
	// wrote is told of a write.
	wrote(key string, raw []byte, revision int64) error
}

// adapter is what the suites ask for on our store.
type adapter struct {
	form  *form
	store *store.Store
	reader

	compacted atomic.Int64
	sizes     bool
}

var _ storagetesting.InterfaceWithPrefixTransformer = &adapter{}

func (a *adapter) Versioner() storage.Versioner { return versioner }

func (a *adapter) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	key, err := storeKey(key, false)
	if err != nil {
		return err
	}
	if version, err := versioner.ObjectResourceVersion(obj); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	data, raw, err := a.form.encode(ctx, key, obj)
	if err != nil {
		return storage.NewInternalError(err)
	}
	revision, err := a.store.Create(ctx, key, raw, int64(ttl))
	if errors.Is(err, store.ErrExists) {
		return storage.NewKeyExistsError(suiteKey(key), 0)
	}
	if err != nil {
		return err
	}
	return a.written(key, data, raw, revision, out)
}

// written tells the reader of a write and gives the caller the object as stored.
func (a *adapter) written(key string, data, raw []byte, revision int64, out runtime.Object) error {
	if err := a.wrote(key, raw, revision); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	zero(out)
	return a.form.decode(data, revision, out)
}

func zero(obj runtime.Object) {
	v := reflect.ValueOf(obj).Elem()
	v.Set(reflect.Zero(v.Type()))
}

func (a *adapter) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, o storage.DeleteOptions,
) error {
	key, err := storeKey(key, false)
	if err != nil {
		return err
	}
	now, err := a.current(ctx, key)
	for {
		if err != nil {
			return err
		}
		if now == nil {
			return storage.NewKeyNotFoundError(suiteKey(key), 0)
		}
		if err := a.mayGo(ctx, now, preconditions, validate, o); err != nil {
			return err
		}
		revision, err := a.store.Delete(ctx, key, now.Revision)
		var stale *store.ConflictError
		switch {
		case err == nil && o.ExpectTransformOrDecodeError:
			return a.settled(ctx, revision)
		case err == nil:
			return a.form.into(ctx, key, now.Value, revision, out)
		case errors.As(err, &stale):
			now = &stale.Current
		case errors.Is(err, store.ErrNotFound):
			now = nil
		default:
			return err
		}
	}
}

// mayGo says why an object must stay.
func (a *adapter) mayGo(ctx context.Context, kv *store.KV, preconditions *storage.Preconditions, validate storage.ValidateObjectFunc, o storage.DeleteOptions) error {
	pod, err := a.form.pod(ctx, kv.Key, kv.Value, kv.Revision)
	switch {
	case o.ExpectTransformOrDecodeError && err == nil:
		return storage.NewInvalidObjError(kv.Key, "it can be read")
	case o.ExpectTransformOrDecodeError:
		return validate(ctx, nil)
	case err != nil:
		return err
	}
	if err := preconditions.Check(kv.Key, pod); err != nil {
		return err
	}
	return validate(ctx, pod)
}

func (a *adapter) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object,
) error {
	key, err := storeKey(key, false)
	if err != nil {
		return err
	}
	for {
		now, err := a.current(ctx, key)
		if err != nil {
			return err
		}
		if now == nil {
			if !ignoreNotFound {
				return storage.NewKeyNotFoundError(suiteKey(key), 0)
			}
			now = &store.KV{Key: key}
		}
		err = a.tryUpdate(ctx, now, out, preconditions, update)
		var stale *store.ConflictError
		switch {
		case errors.As(err, &stale):
			if err := a.settled(ctx, stale.Current.Revision); err != nil {
				return err
			}
		case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNotFound):
		default:
			return err
		}
	}
}

// tryUpdate makes one attempt to change what is stored now; a revision of 0 stands for nothing.
func (a *adapter) tryUpdate(ctx context.Context, now *store.KV, out runtime.Object, preconditions *storage.Preconditions, update storage.UpdateFunc) error {
	pod := &example.Pod{}
	var before []byte
	stale := false
	if now.Revision > 0 {
		var err error
		if before, stale, err = a.form.plain(ctx, now.Key, now.Value); err != nil {
			return err
		}
		if err := a.form.decode(before, now.Revision, pod); err != nil {
			return err
		}
	}
	if err := preconditions.Check(now.Key, pod); err != nil {
		return err
	}
	next, ttl, err := update(pod, storage.ResponseMeta{ResourceVersion: uint64(now.Revision)})
	if err != nil {
		return err
	}
	data, raw, err := a.form.encode(ctx, now.Key, next)
	if err != nil {
		return storage.NewInternalError(err)
	}
	var seconds int64
	if ttl != nil {
		seconds = int64(*ttl)
	}
	var revision int64
	switch {
	case now.Revision == 0:
		revision, err = a.store.Create(ctx, now.Key, raw, seconds)
	case string(data) == string(before) && !stale:
		zero(out)
		return a.form.decode(before, now.Revision, out)
	default:
		revision, err = a.store.Update(ctx, now.Key, raw, now.Revision, seconds)
	}
	if err != nil {
		return err
	}
	return a.written(now.Key, data, raw, revision, out)
}

func (a *adapter) Get(ctx context.Context, key string, o storage.GetOptions, out runtime.Object) error {
	key, err := storeKey(key, false)
	if err != nil {
		return err
	}
	kv, err := a.get(ctx, key, o.ResourceVersion)
	if err != nil {
		return err
	}
	zero(out)
	if kv == nil && !o.IgnoreNotFound {
		return storage.NewKeyNotFoundError(suiteKey(key), 0)
	}
	if kv == nil {
		return nil
	}
	return a.form.into(ctx, key, kv.Value, kv.Revision, out)
}

func (a *adapter) GetList(ctx context.Context, key string, o storage.ListOptions, out runtime.Object) error {
	key, err := storeKey(key, o.Recursive)
	if err != nil {
		return err
	}
	list := out.(*example.PodList)
	*list = example.PodList{Items: []example.Pod{}}
	return a.list(ctx, key, o, list)
}

func (a *adapter) Watch(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error) {
	key, err := storeKey(key, o.Recursive)
	if err != nil {
		return nil, err
	}
	return a.watch(ctx, key, o)
}

func (a *adapter) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	r, err := a.revision(ctx)
	return uint64(r), err
}

func (a *adapter) Stats(ctx context.Context) (storage.Stats, error) {
	page, err := a.store.Range(ctx, keyPrefix, store.PrefixEnd(keyPrefix), 0, 0)
	if err != nil {
		return storage.Stats{}, err
	}
	s := storage.Stats{ObjectCount: int64(len(page.Items))}
	if a.sizes && s.ObjectCount > 0 {
		for _, kv := range page.Items {
			s.EstimatedAverageObjectSizeBytes += int64(len(kv.Value))
		}
		s.EstimatedAverageObjectSizeBytes /= s.ObjectCount
	}
	return s, nil
}

func (a *adapter) ReadinessCheck() error { return nil }

func (a *adapter) RequestWatchProgress(ctx context.Context) error {
	return a.store.RequestProgress(ctx)
}

func (a *adapter) EnableResourceSizeEstimation(storage.KeysFunc) error {
	a.sizes = true
	return nil
}

func (a *adapter) CompactRevision() int64 { return a.compacted.Load() }

// UpdatePrefixTransformer replaces the transformer until what it returns is called.
func (a *adapter) UpdatePrefixTransformer(modify storagetesting.PrefixTransformerModifier) func() {
	before := *a.form.transformer.Load()
	changed := *before.(*storagetesting.PrefixTransformer)
	a.form.set(modify(&changed))
	return func() { a.form.set(before) }
}

// UpdateTransformer replaces the transformer until what it returns is called.
func (a *adapter) UpdateTransformer(modify storagetesting.TransformerModifier) func() {
	before := *a.form.transformer.Load()
	a.form.set(modify(before))
	return func() { a.form.set(before) }
}

var _ interface {
	UpdateTransformer(storagetesting.TransformerModifier) func()
} = &adapter{}
