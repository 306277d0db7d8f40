package registry

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Begin reserves what an object needs beyond itself, such as a Service's address, before it is
// validated. old is nil on create. The function returned is called once with whether the write
// happened; it may be nil.
type Begin func(ctx context.Context, obj, old resource.Object, dryRun bool) (func(written bool), error)

// Options of a registry.
type Options struct {
	Resource *resource.Resource
	// Codec of the resource that owns the key prefix: another one where two versions share it.
	Codec     Codec
	Store     *store.Store
	Cache     *cache.Cache
	Admission Admission
	Managers  *Managers // makes field managers
	Begin     Begin     // may be nil
	// Unkept: entries keep no JSON in this version, since they have no room for more than two.
	Unkept bool
	// AfterDelete is called with each object that is gone; may be nil.
	AfterDelete func(obj resource.Object)
	Now         func() time.Time
}

// Registry serves one resource. Safe for concurrent use.
type Registry struct {
	Options
	collection *cache.Collection
	slot       cache.Slot
	managers   map[string]*fieldManager // by subresource; "" is the resource itself
	plans      map[string]fieldPlan     // likewise; none for objects without a Go type

	// Sharers is how many watches share whole objects at the moment.
	Sharers *atomic.Int64
}

// New makes the registry of a resource, whose key prefix the cache must know.
func New(o Options) (*Registry, error) {
	r := &Registry{Options: o, collection: o.Cache.Collection(o.Resource.Prefix), managers: map[string]*fieldManager{}, plans: map[string]fieldPlan{}, Sharers: new(atomic.Int64)}
	if r.collection == nil {
		return nil, fmt.Errorf("no collection for %s", o.Resource.Prefix)
	}
	switch {
	case o.Unkept:
		r.slot = cache.SlotNone
	case o.Resource.ToStorage != nil:
		r.slot = cache.SlotOther
	}
	endpoints := map[string]*resource.Hooks{"": &o.Resource.Hooks}
	for _, s := range o.Resource.Subresources {
		switch {
		case s.Hooks != nil:
			endpoints[s.Name] = s.Hooks
		case s.Scale != nil:
			endpoints[s.Name] = &resource.Hooks{}
		}
	}
	for sub, hooks := range endpoints {
		m, err := o.Managers.new(o.Resource, sub, hooks)
		if err != nil {
			return nil, fmt.Errorf("field manager of %s/%s: %w", o.Resource.Plural, sub, err)
		}
		r.managers[sub] = m
		if !o.Resource.Whole {
			r.plans[sub] = o.Managers.fieldPlan(o.Resource, hooks)
		}
	}
	return r, nil
}

// Collection gives the cached objects.
func (r *Registry) Collection() *cache.Collection { return r.live() }

// live is the collection as it is now: a custom resource's is replaced when its definition changes.
func (r *Registry) live() *cache.Collection {
	if r.collection.Ended() {
		if now := r.Cache.Collection(r.Resource.Prefix); now != nil {
			return now
		}
	}
	return r.collection
}

// Result is what a write or a read of one object gives.
type Result struct {
	// Object in the served version, with its resourceVersion. Reads leave it nil; see Registry.Object.
	Object resource.Object
	// Entry holds it in the cache's form; nil for a dry run.
	Entry *cache.Entry
	// Created tells apart an update that created.
	Created bool
}

// WriteOptions of create, update and patch.
type WriteOptions struct {
	DryRun bool
	// Manager is the field manager's name.
	Manager string
	// Subresource is the endpoint; empty: the resource itself.
	Subresource string
	// Options as the client gave them, for admission.
	Options runtime.Object
	// View shows the object as the endpoint has it, such as a Scale, to admission; nil: as it is.
	View View
}

// Object returns the result's object, decoding it if need be. A result that has its object needs no registry.
func (r *Registry) Object(res *Result) (resource.Object, error) {
	if res.Object != nil {
		return res.Object, nil
	}
	return r.decode(res.Entry)
}

// Shown is the result's object to look at: the one that watches share, if any do, which nobody may change and which has no managedFields.
func (r *Registry) Shown(res *Result) (resource.Object, error) {
	if res.Object != nil || r.Resource.FromStorage != nil || r.Sharers.Load() == 0 {
		return r.Object(res)
	}
	obj, err := res.Entry.Shared()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj.(resource.Object), nil
}

// decode gives an entry's object in the served version.
func (r *Registry) decode(e *cache.Entry) (resource.Object, error) {
	obj, err := e.Object()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return r.served(obj)
}

func (r *Registry) served(obj runtime.Object) (resource.Object, error) {
	o := obj.(resource.Object)
	if r.Resource.FromStorage == nil {
		return o, nil
	}
	return r.Resource.FromStorage(o)
}

// encode makes the stored value of a served object, and the two as a read will give them: in the stored
// version and in the served one. What defaults then fill in is not stored.
func (r *Registry) encode(obj resource.Object) (raw []byte, stored, shown resource.Object, err error) {
	stored = obj
	if r.Resource.ToStorage != nil {
		if stored, err = r.Resource.ToStorage(obj); err != nil {
			return nil, nil, nil, err
		}
	}
	if raw, err = r.Codec.Encode(stored); err != nil {
		return nil, nil, nil, err
	}
	r.Codec.Default(stored)
	shown, err = r.served(stored)
	return raw, stored, shown, err
}

// JSON gives an entry's body in the served version; it is kept in the entry.
func (r *Registry) JSON(e *cache.Entry) ([]byte, error) {
	return e.JSON(r.slot, func(obj runtime.Object) ([]byte, error) {
		o, err := r.served(obj)
		if err != nil {
			return nil, err
		}
		return wire.JSONBody(o)
	})
}

// key checks the parts of a key before it is made of them.
func (r *Registry) key(namespace, name string) (string, error) {
	if r.Resource.Namespaced && namespace == "" {
		return "", apierrors.NewBadRequest("Namespace parameter required.")
	}
	if name == "" {
		return "", apierrors.NewBadRequest("Name parameter required.")
	}
	if r.Resource.Namespaced {
		if bad := content.IsPathSegmentName(namespace); len(bad) > 0 {
			return "", apierrors.NewBadRequest(fmt.Sprintf("Namespace parameter invalid: %q: %s", namespace, strings.Join(bad, ";")))
		}
	}
	if bad := content.IsPathSegmentName(name); len(bad) > 0 {
		return "", apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(bad, ";")))
	}
	return r.Resource.Key(namespace, name), nil
}

// current gives the entry of a key as of all that was acknowledged before; nil if there is none.
func (r *Registry) current(ctx context.Context, key string) (*cache.Entry, error) {
	if err := r.Cache.Fresh(ctx); err != nil {
		return nil, apierrors.NewTimeoutError("the store does not answer: "+err.Error(), 1)
	}
	e := r.live().Get(key)
	if e == nil {
		return nil, r.live().UnreadableAt(key)
	}
	return e, nil
}
