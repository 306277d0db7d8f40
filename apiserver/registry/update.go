package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// staleText is what a writer with an old version is told.
const staleText = "the object has been modified; please apply your changes to the latest version and try again"

// Transform makes the wanted object of the current one, which it may change and return. It may be called
// several times. When there is none, current is empty.
type Transform func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error)

// UpdateOptions say how an update goes about it.
type UpdateOptions struct {
	WriteOptions
	// UID that the object must have; empty: any.
	UID types.UID
	// Create the object if it is missing, whatever the kind says: server-side apply does.
	Create bool
	// Pure: the transformation leaves the current object as it is, and none of it is part of the wanted one.
	Pure bool
	// Hooks instead of the endpoint's: for endpoints that change the object by rules of their own, such as binding.
	Hooks *resource.Hooks
}

// Update changes an object by a transformation that is repeated, on the newest version, when another
// writer was faster and the wanted object names no version.
func (r *Registry) Update(ctx context.Context, namespace, name string, transform Transform, o UpdateOptions) (*Result, error) {
	key, err := r.key(namespace, name)
	if err != nil {
		return nil, err
	}
	e, err := r.current(ctx, key)
	if err != nil {
		return nil, err
	}
	for {
		result, err := r.attempt(ctx, namespace, name, key, e, transform, o)
		var stale *store.ConflictError
		switch {
		case err == nil:
			return result, nil
		case errors.As(err, &stale):
			if err := r.Cache.WaitFor(ctx, stale.Current.Revision); err != nil {
				return nil, storeError(err)
			}
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrExists):
		default:
			return nil, storeError(err)
		}
		if e, err = r.current(ctx, key); err != nil {
			return nil, err
		}
	}
}

// attempt makes the wanted object of the entry's and tries to write it.
func (r *Registry) attempt(ctx context.Context, namespace, name, key string, e *cache.Entry, transform Transform, o UpdateOptions) (*Result, error) {
	if e == nil {
		return r.createByUpdate(ctx, namespace, name, key, transform, o)
	}
	old, err := r.decode(e)
	if err != nil {
		return nil, err
	}
	if o.UID != "" && o.UID != old.GetUID() {
		return nil, r.wrongUID(key, name, o.UID, old.GetUID())
	}
	current := old
	if !o.Pure {
		current = old.DeepCopyObject().(resource.Object)
	}
	obj, err := transform(ctx, current, true)
	if err != nil {
		return nil, err
	}
	if err := r.matchVersion(obj, old, name); err != nil {
		return nil, err
	}
	finish, err := r.begin(ctx, obj, old, o.DryRun)
	if err != nil {
		return nil, err
	}
	written := false
	defer func() { finish(written) }()
	if err := r.prepareUpdate(ctx, namespace, obj, old, o); err != nil {
		return nil, err
	}
	result, err := r.replace(ctx, key, e, obj, old, o)
	written = err == nil && !o.DryRun
	return result, err
}

// wrongUID is how a failed precondition of the store reads.
func (r *Registry) wrongUID(key, name string, wanted, present types.UID) error {
	return apierrors.NewConflict(r.Resource.GR(), name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %v, UID in object meta: %v",
		key, wanted, present))
}

// matchVersion compares the version that the wanted object names, and fills it in where none need be named.
func (r *Registry) matchVersion(obj, old resource.Object, name string) error {
	switch version := obj.GetResourceVersion(); {
	case version == old.GetResourceVersion():
	case version == "" || version == "0":
		if r.Resource.NeedsVersion {
			kind := schema.GroupKind{Group: r.Resource.Group, Kind: r.Resource.Plural}
			return apierrors.NewInvalid(kind, name, field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
		}
		obj.SetResourceVersion(old.GetResourceVersion())
	default:
		if _, err := strconv.ParseUint(version, 10, 64); err != nil {
			return err // a failure of the server, as with a genuine one
		}
		return apierrors.NewConflict(r.Resource.GR(), name, errors.New(staleText))
	}
	return nil
}

// hooks gives the endpoint's rules.
func (r *Registry) hooks(o UpdateOptions) *resource.Hooks {
	if o.Hooks != nil {
		return o.Hooks
	}
	if s := r.Resource.Sub(o.Subresource); s != nil && s.Hooks != nil {
		return s.Hooks
	}
	return &r.Resource.Hooks
}

// prepareUpdate keeps what no update changes, runs the endpoint's hooks and everything that judges the change.
func (r *Registry) prepareUpdate(ctx context.Context, namespace string, obj, old resource.Object, o UpdateOptions) error {
	hooks := r.hooks(o)
	obj.SetGeneration(old.GetGeneration())
	if hooks.PrepareForUpdate != nil {
		hooks.PrepareForUpdate(ctx, obj, old)
	}
	keepSystemFields(obj, old)
	path := field.NewPath("metadata")
	errs := genericvalidation.ValidateObjectMetaAccessor(obj, r.Resource.Namespaced, pathSegment, path)
	errs = append(errs, genericvalidation.ValidateObjectMetaAccessorUpdate(obj, old, path)...)
	if !r.Resource.OwnMetadata {
		errs = append(errs, resource.ValidateFinalizers(obj, path)...)
	}
	if hooks.ValidateUpdate != nil {
		errs = append(errs, hooks.ValidateUpdate(ctx, obj, old)...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(r.Resource.InvalidKindOf(obj), obj.GetName(), once(errs))
	}
	r.warn(ctx, hooks, obj, old)
	keepTimes(obj, old)
	if o.Hooks != nil && o.Subresource == "" {
		return nil // what such an endpoint is sent, such as a Binding, was judged as what it is
	}
	return r.judge(ctx, namespace, obj, old, o.WriteOptions)
}

func keepSystemFields(obj, old resource.Object) {
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if t := old.GetCreationTimestamp(); !t.IsZero() {
		obj.SetCreationTimestamp(t)
	}
	if t := old.GetDeletionTimestamp(); !t.IsZero() {
		obj.SetDeletionTimestamp(t)
	}
	if g := old.GetDeletionGracePeriodSeconds(); g != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(g)
	}
}

// replace writes the object over the entry; it deletes it when its last finalizer goes, and writes nothing when nothing changed.
func (r *Registry) replace(ctx context.Context, key string, e *cache.Entry, obj, old resource.Object, o UpdateOptions) (*Result, error) {
	if r.lastFinalizerGoes(obj, old) {
		if o.DryRun {
			return &Result{Object: obj}, nil
		}
		rev, err := r.Store.Delete(ctx, key, e.Revision)
		if err != nil {
			return nil, err
		}
		return r.gone(obj, rev), r.settle(ctx, rev)
	}
	raw, stored, shown, err := r.encode(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if o.DryRun {
		return &Result{Object: shown}, nil
	}
	if bytes.Equal(raw, e.Raw) {
		return &Result{Object: shown, Entry: e}, nil
	}
	rev, err := r.Store.Update(ctx, key, raw, e.Revision, r.ttl(stored))
	if err != nil {
		return nil, err
	}
	return r.publish(key, raw, rev, shown, stored, false), r.settle(ctx, rev)
}

// lastFinalizerGoes says whether the update ends a deletion that only finalizers held up.
func (r *Registry) lastFinalizerGoes(obj, old resource.Object) bool {
	grace := obj.GetDeletionGracePeriodSeconds()
	return !r.held(obj) && r.held(old) && obj.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}

// held says whether finalizers of any sort keep an object.
func (r *Registry) held(obj resource.Object) bool {
	return len(obj.GetFinalizers()) > 0 || (r.Resource.Held != nil && r.Resource.Held(obj))
}

// createByUpdate creates the object that the update found missing, where that is allowed.
func (r *Registry) createByUpdate(ctx context.Context, namespace, name, key string, transform Transform, o UpdateOptions) (*Result, error) {
	mayCreate := o.Create || (r.Resource.CreateOnUpdate && o.Subresource == "")
	if !mayCreate || o.Hooks != nil {
		return nil, apierrors.NewNotFound(r.Resource.GR(), name)
	}
	if o.UID != "" {
		return nil, r.wrongUID(key, name, o.UID, "")
	}
	obj, err := transform(ctx, r.Resource.New(), false)
	if err != nil {
		return nil, err
	}
	if !o.DryRun {
		obj.SetResourceVersion("") // a dry run answers with the client's
	}
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
	r.fillSystemFields(obj)
	finish, err := r.begin(ctx, obj, nil, o.DryRun)
	if err != nil {
		return nil, err
	}
	written := false
	defer func() { finish(written) }()
	if err := r.prepareCreate(ctx, namespace, obj, o.WriteOptions); err != nil {
		return nil, err
	}
	result, err := r.insert(ctx, key, obj, o.WriteOptions)
	written = err == nil && !o.DryRun
	return result, err
}

// Replace makes the wanted object of an update that sends the whole: managed fields and mutating admission applied.
func (r *Registry) Replace(ctx context.Context, namespace string, live resource.Object, exists bool, obj resource.Object, o WriteOptions) (resource.Object, error) {
	dedupOwners(ctx, obj, "")
	obj = r.manage(live, obj, o)
	return r.admit(ctx, namespace, live, exists, obj, o)
}

// admit applies mutating admission to a wanted object.
func (r *Registry) admit(ctx context.Context, namespace string, live resource.Object, exists bool, obj resource.Object, o WriteOptions) (resource.Object, error) {
	if !exists {
		live = nil
	}
	if err := r.mutate(ctx, namespace, obj, live, o); err != nil {
		return nil, err
	}
	dedupOwners(ctx, obj, " after mutating admission")
	return obj, nil
}

// Patched makes the wanted object of a patch's outcome, like Replace. An applied configuration has its managed fields already.
func (r *Registry) Patched(ctx context.Context, namespace string, live resource.Object, exists bool, obj resource.Object, o WriteOptions, applied bool) (resource.Object, error) {
	if !applied {
		obj = r.manage(live, obj, o)
	}
	return r.admit(ctx, namespace, live, exists, obj, o)
}
