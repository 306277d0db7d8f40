package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Deletion is what a DELETE did.
type Deletion struct {
	// Object as it was last; when it is not gone yet, as it is now.
	Object resource.Object
	// Gone: it is no longer there. Otherwise grace or finalizers hold it.
	Gone bool
}

// Asked is what was asked for by a deletion, as far as admission is concerned.
type Asked int

// An object by its name, a collection that it is of, or something else that admission judged already, such as an eviction.
const (
	ByName Asked = iota
	InCollection
	Otherwise
)

// Delete ends an object: at once, or by marking it when finalizers or a grace period stand before that.
func (r *Registry) Delete(ctx context.Context, namespace, name string, options *metav1.DeleteOptions, dryRun bool) (*Deletion, error) {
	return r.DeleteAsked(ctx, namespace, name, options, dryRun, ByName)
}

// DeleteAsked is Delete for what was asked for.
func (r *Registry) DeleteAsked(ctx context.Context, namespace, name string, options *metav1.DeleteOptions, dryRun bool, asked Asked) (*Deletion, error) {
	key, err := r.key(namespace, name)
	if err != nil {
		return nil, err
	}
	for {
		e, err := r.current(ctx, key)
		if err != nil {
			return nil, unreadable(err)
		}
		if e == nil {
			return nil, apierrors.NewNotFound(r.Resource.GR(), name)
		}
		d, err := r.tryDelete(ctx, namespace, key, e, options.DeepCopy(), dryRun, asked)
		var stale *store.ConflictError
		switch {
		case errors.As(err, &stale):
			if err := r.Cache.WaitFor(ctx, stale.Current.Revision); err != nil {
				return nil, storeError(err)
			}
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return nil, storeError(err)
		default:
			return d, nil
		}
	}
}

func (r *Registry) tryDelete(ctx context.Context, namespace, key string, e *cache.Entry, options *metav1.DeleteOptions, dryRun bool, asked Asked) (*Deletion, error) {
	obj, err := r.decode(e)
	if err != nil {
		return nil, err
	}
	if err := CheckPreconditions(r.Resource, obj, options); err != nil {
		return nil, err
	}
	if err := r.judgeDeletion(ctx, namespace, obj, options, dryRun, asked); err != nil {
		return nil, err
	}
	before := obj.DeepCopyObject().(resource.Object)
	if r.Resource.BeginDelete != nil && obj.GetDeletionTimestamp() == nil {
		r.Resource.BeginDelete(obj, metav1.NewTime(r.Now()))
		return deletion(r.replace(ctx, key, e, obj, before, UpdateOptions{WriteOptions: WriteOptions{DryRun: dryRun}}))
	}
	step := r.markDeleted(obj, options)
	if step == alreadyDeleting {
		return &Deletion{Object: obj}, nil
	}
	if step == deleteNow {
		if dryRun {
			return &Deletion{Object: obj, Gone: true}, nil
		}
		rev, err := r.Store.Delete(ctx, key, e.Revision)
		if err != nil {
			return nil, err
		}
		return &Deletion{Object: r.gone(before, rev).Object, Gone: true}, r.settle(ctx, rev)
	}
	result, err := r.replace(ctx, key, e, obj, before, UpdateOptions{WriteOptions: WriteOptions{DryRun: dryRun}})
	if err != nil || step == deleteLater {
		return deletion(result, err)
	}
	if dryRun {
		return &Deletion{Object: result.Object, Gone: true}, nil
	}
	return r.removeMarked(ctx, key, result)
}

// removeMarked removes an object that was marked just now. Others see the mark too: whoever confirms it
// first has done what was wanted, and what they write meanwhile does not save the object.
func (r *Registry) removeMarked(ctx context.Context, key string, marked *Result) (*Deletion, error) {
	expected := marked.Entry.Revision
	for {
		rev, err := r.Store.Delete(ctx, key, expected)
		var stale *store.ConflictError
		switch {
		case err == nil:
			return &Deletion{Object: r.gone(marked.Object, rev).Object, Gone: true}, nil
		case errors.Is(err, store.ErrNotFound):
			return &Deletion{Object: marked.Object, Gone: true}, nil
		case !errors.As(err, &stale):
			return nil, err
		}
		e, err := r.live().ReadEntry(stale.Current)
		if err != nil {
			return nil, err
		}
		now, err := r.decode(e)
		if err != nil {
			return nil, err
		}
		if now.GetUID() != marked.Object.GetUID() || len(now.GetFinalizers()) > 0 {
			return &Deletion{Object: marked.Object, Gone: now.GetUID() != marked.Object.GetUID()}, nil
		}
		expected = stale.Current.Revision
	}
}

func deletion(result *Result, err error) (*Deletion, error) {
	if err != nil {
		return nil, err
	}
	return &Deletion{Object: result.Object}, nil
}

// gone makes the result of a removal.
func (r *Registry) gone(obj resource.Object, rev int64) *Result {
	obj.SetResourceVersion(strconv.FormatInt(rev, 10))
	if r.AfterDelete != nil {
		r.AfterDelete(obj)
	}
	return &Result{Object: obj}
}

// CheckPreconditions says why the object is none that the options mean: 409, if its uid or version is another.
func CheckPreconditions(res *resource.Resource, obj resource.Object, options *metav1.DeleteOptions) error {
	p := options.Preconditions
	if p == nil {
		return nil
	}
	// The Kind stands where a resource is meant: that is how a genuine server answers.
	kind := res.InvalidKind()
	gr := schema.GroupResource{Group: kind.Group, Resource: kind.Kind}
	switch {
	case res.Held != nil:
		return ownPreconditions(res, obj, p, "Precondition failed")
	case res.BeginDelete != nil:
		return ownPreconditions(res, obj, p, "precondition failed")
	}
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(gr, obj.GetName(), fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(gr, obj.GetName(), fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}

// ownPreconditions is how kinds with a deletion of their own, Namespaces and definitions, say the same.
func ownPreconditions(res *resource.Resource, obj resource.Object, p *metav1.Preconditions, text string) error {
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(res.GR(), obj.GetName(), fmt.Errorf("%s: UID in precondition: %v, UID in object meta: %v", text, *p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(res.GR(), obj.GetName(), fmt.Errorf("%s: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", text, *p.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}

// deleteStep is how a deletion goes on.
type deleteStep int

const (
	deleteNow deleteStep = iota
	deleteLater
	// markThenDelete: a kind that is deleted gracefully, with no grace left. Watchers see the mark first.
	markThenDelete
	alreadyDeleting
)

// markDeleted puts the deletion's marks onto the object: timestamp, grace period, finalizers of the
// garbage collector.
func (r *Registry) markDeleted(obj resource.Object, options *metav1.DeleteOptions) deleteStep {
	if g := options.GracePeriodSeconds; g != nil && *g < 0 {
		options.GracePeriodSeconds = ptr.To[int64](1)
	}
	graceful, pending := r.markGrace(obj, options)
	if pending {
		return alreadyDeleting
	}
	obj.SetFinalizers(deletionFinalizers(r.Resource, obj, options))
	held := r.held(obj)
	if !graceful {
		if !held {
			return deleteNow
		}
		r.markDeleting(obj)
		return deleteLater
	}
	if !held && ptr.Deref(options.GracePeriodSeconds, 0) == 0 {
		return markThenDelete
	}
	return deleteLater
}

// markGrace starts or shortens the grace period. pending: a deletion is under way that this one does not hasten.
func (r *Registry) markGrace(obj resource.Object, options *metav1.DeleteOptions) (graceful, pending bool) {
	if r.Resource.Grace == nil {
		return false, false
	}
	if deleting := obj.GetDeletionTimestamp(); deleting != nil {
		left := obj.GetDeletionGracePeriodSeconds()
		if left == nil || *left == 0 {
			return false, false
		}
		if options.GracePeriodSeconds == nil || *options.GracePeriodSeconds >= *left {
			return false, true
		}
		period := *options.GracePeriodSeconds
		at := deleting.Add(time.Duration(period-*left) * time.Second)
		if now := r.Now(); at.Before(now) {
			at = now
			if period != 0 {
				period = 1
			}
		}
		t := metav1.NewTime(at)
		obj.SetDeletionTimestamp(&t)
		obj.SetDeletionGracePeriodSeconds(&period)
		return true, false
	}
	if !r.Resource.Grace(obj, options) {
		return false, false
	}
	t := metav1.NewTime(r.Now().Add(time.Duration(*options.GracePeriodSeconds) * time.Second))
	obj.SetDeletionTimestamp(&t)
	obj.SetDeletionGracePeriodSeconds(options.GracePeriodSeconds)
	if obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
	return true, false
}

// markDeleting marks an object that only finalizers hold.
func (r *Registry) markDeleting(obj resource.Object) {
	if obj.GetDeletionTimestamp() == nil && obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
	now := metav1.NewTime(r.Now())
	if t := obj.GetDeletionTimestamp(); t == nil || now.Before(t) {
		obj.SetDeletionTimestamp(&now)
	}
	obj.SetDeletionGracePeriodSeconds(ptr.To[int64](0))
	if r.Resource.OnDelete != nil {
		r.Resource.OnDelete(obj)
	}
}

// deletionFinalizers gives the finalizers with those of the garbage collector as the policy wants them.
func deletionFinalizers(res *resource.Resource, obj resource.Object, options *metav1.DeleteOptions) []string {
	policy := propagation(res, obj, options)
	var out []string
	for _, f := range obj.GetFinalizers() {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	switch policy {
	case metav1.DeletePropagationOrphan:
		out = append(out, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	if sameSet(out, obj.GetFinalizers()) {
		return obj.GetFinalizers()
	}
	return out
}

func sameSet(a, b []string) bool {
	in := func(set []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(set, s) }
	}
	return !slices.ContainsFunc(a, in(b)) && !slices.ContainsFunc(b, in(a))
}

// propagation decides what happens to dependents: what the options say, else what a finalizer set before
// says, else the kind's own way.
func propagation(res *resource.Resource, obj resource.Object, options *metav1.DeleteOptions) metav1.DeletionPropagation {
	if res.Propagation == resource.Unsupported {
		return metav1.DeletePropagationBackground
	}
	if orphan := options.OrphanDependents; orphan != nil {
		if *orphan {
			return metav1.DeletePropagationOrphan
		}
		return metav1.DeletePropagationBackground
	}
	if options.PropagationPolicy != nil {
		return *options.PropagationPolicy
	}
	for _, f := range obj.GetFinalizers() {
		switch f {
		case metav1.FinalizerOrphanDependents:
			return metav1.DeletePropagationOrphan
		case metav1.FinalizerDeleteDependents:
			return metav1.DeletePropagationForeground
		}
	}
	if res.Propagation == resource.Orphan {
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}
