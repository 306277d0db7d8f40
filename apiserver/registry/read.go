package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// futureWait is how long a read waits for a resourceVersion that is not there yet.
const futureWait = 3 * time.Second

// Texts of a read of what etcd has compacted.
const (
	expiredText         = "The resourceVersion for the provided list is too old."
	expiredWatchText    = "The resourceVersion for the provided watch is too old."
	expiredContinueText = "The provided continue parameter is too old " +
		"to display a consistent list result. You can start a new list without " +
		"the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided " +
		"token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned " +
		"and now may show up in the list."
)

// parseVersion reads a resourceVersion; 0 stands for none given or any.
func parseVersion(s string) (int64, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), s, err.Error())
	}
	return int64(v), nil
}

// wait lets a read begin: at the newest state when no version is given, at any for "0", else when the version is there.
func (r *Registry) wait(ctx context.Context, version string) error {
	if version == "" {
		if err := r.Cache.Fresh(ctx); err != nil {
			return storeError(err)
		}
		return nil
	}
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, futureWait)
	defer cancel()
	if err := r.Cache.WaitFor(limited, v); err != nil {
		if ctx.Err() != nil {
			return storeError(ctx.Err())
		}
		return tooLarge(v, r.Cache.Revision())
	}
	return nil
}

func tooLarge(wanted, current int64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// Get reads one object, no older than the version.
func (r *Registry) Get(ctx context.Context, namespace, name, version string) (*Result, error) {
	key, err := r.key(namespace, name)
	if err != nil {
		return nil, err
	}
	if err := r.wait(ctx, version); err != nil {
		return nil, err
	}
	e := r.live().Get(key)
	if e == nil {
		if err := r.live().UnreadableAt(key); err != nil {
			return nil, unreadable(err)
		}
		return nil, apierrors.NewNotFound(r.Resource.GR(), name)
	}
	return &Result{Entry: e}, nil
}

// List is what a list found.
type List struct {
	Entries  []*cache.Entry
	Revision int64
	Continue string
	// Remaining objects after these; nil when it is not known.
	Remaining *int64
}

// Filter makes the cache's filter of a list's options.
func Filter(namespace string, o *internalversion.ListOptions) cache.Filter {
	f := cache.Filter{Namespace: namespace}
	if o.LabelSelector != nil && !o.LabelSelector.Empty() {
		f.Labels = o.LabelSelector
	}
	if o.FieldSelector != nil && !o.FieldSelector.Empty() {
		f.Fields = o.FieldSelector
		if name, ok := o.FieldSelector.RequiresExactMatch("metadata.name"); ok {
			f.Name = name
		}
	}
	return f
}

// List reads the objects of a namespace, or of all when it is empty.
func (r *Registry) List(ctx context.Context, namespace string, o *internalversion.ListOptions) (*List, error) {
	if err := r.checkNamespace(namespace); err != nil {
		return nil, err
	}
	prefix := r.Resource.Prefix
	if r.Resource.Namespaced && namespace != "" {
		prefix += namespace + "/"
	}
	filter := Filter(namespace, o)
	if o.Continue != "" {
		return r.continued(ctx, prefix, filter, o)
	}
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
	}
	if err := r.wait(ctx, o.ResourceVersion); err != nil {
		return nil, err
	}
	if err := r.readable(prefix); err != nil {
		return nil, err
	}
	exact := o.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		(o.ResourceVersionMatch == "" && o.Limit > 0 && version > 0)
	if exact {
		return r.listAt(ctx, prefix, prefix, version, filter, o.Limit, "")
	}
	limit := o.Limit
	if o.ResourceVersion == "0" {
		limit = 0 // any state will do: all of one is at hand, as a genuine server's cache has it
	}
	return r.list(r.live().Snapshot(), prefix, prefix, filter, limit)
}

// checkNamespace refuses namespaces that a genuine store takes for a way out of the resource's keys; to its clients that is a failure
// of the server.
func (r *Registry) checkNamespace(namespace string) error {
	if namespace == "." || namespace == ".." {
		return fmt.Errorf("invalid key: %q", "/"+strings.TrimPrefix(r.Resource.Prefix, store.Prefix)+namespace)
	}
	return nil
}

// continued goes on with a list where its token says.
func (r *Registry) continued(ctx context.Context, prefix string, filter cache.Filter, o *internalversion.ListOptions) (*List, error) {
	from, revision, err := decodeToken(o.Continue, prefix)
	if err != nil {
		return nil, err
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return nil, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	if revision == anyRevision {
		if err := r.wait(ctx, ""); err != nil {
			return nil, err
		}
		return r.list(r.live().Snapshot(), prefix, from, filter, o.Limit)
	}
	return r.listAt(ctx, prefix, from, revision, filter, o.Limit, o.Continue)
}

// listAt lists at one revision: from memory if that is the present or a remembered state, else from etcd.
func (r *Registry) listAt(ctx context.Context, prefix, from string, revision int64, filter cache.Filter, limit int64, continued string) (*List, error) {
	if s := r.live().Snapshot(); s.Revision == revision {
		return r.list(s, prefix, from, filter, limit)
	}
	if s, ok := r.live().Kept(revision); ok {
		return r.list(s, prefix, from, filter, limit)
	}
	page, err := r.Store.Range(ctx, from, store.PrefixEnd(prefix), 0, revision)
	switch {
	case errors.Is(err, store.ErrCompacted):
		return nil, r.expired(prefix, from, continued != "")
	case errors.Is(err, store.ErrFuture):
		return nil, tooLarge(revision, r.Cache.Revision())
	case err != nil:
		return nil, storeError(err)
	}
	l := lister{registry: r, prefix: prefix, filter: filter, limit: limit, list: &List{Revision: revision}}
	for _, kv := range page.Items {
		e, err := r.live().ReadEntry(kv)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if !l.take(e) {
			break
		}
	}
	return l.finish(func() int64 { return int64(len(page.Items)) - int64(l.walked) })
}

// All decodes all objects of a namespace, or of all with the empty one, as of all that was acknowledged before.
func (r *Registry) All(ctx context.Context, namespace string) ([]resource.Object, error) {
	if err := r.Cache.Fresh(ctx); err != nil {
		return nil, apierrors.NewTimeoutError("the store does not answer: "+err.Error(), 1)
	}
	prefix := r.Resource.Prefix
	if namespace != "" {
		prefix += namespace + "/"
	}
	var (
		list []resource.Object
		err  error
	)
	r.live().Snapshot().Ascend(prefix, "", func(e *cache.Entry) bool {
		var obj resource.Object
		if obj, err = r.decode(e); err == nil {
			list = append(list, obj)
		}
		return err == nil
	})
	return list, err
}

// expired answers a list of a compacted revision; one that continues is told how to go on without consistency.
func (r *Registry) expired(prefix, from string, continued bool) error {
	if !continued {
		return apierrors.NewResourceExpired(expiredText)
	}
	err := apierrors.NewResourceExpired(expiredContinueText)
	next, encodeErr := encodeToken(from[:max(len(from)-1, 0)], prefix, anyRevision)
	if encodeErr != nil {
		return apierrors.NewInternalError(encodeErr)
	}
	err.ErrStatus.ListMeta.Continue = next
	return err
}

// list reads a snapshot; when it is cut off, the snapshot is remembered for what follows.
func (r *Registry) list(s cache.Snapshot, prefix, from string, filter cache.Filter, limit int64) (*List, error) {
	l := lister{registry: r, prefix: prefix, filter: filter, limit: limit, list: &List{Revision: s.Revision}}
	if limit > 0 {
		// What a page walked past counts, selected or not: it says whether there is more, and where.
		s.Ascend(prefix, from, l.take)
	} else {
		s.AscendSelected(&filter, prefix, from, l.take)
	}
	if l.more {
		r.live().Keep(s)
	}
	return l.finish(func() int64 {
		n := int64(0)
		s.Ascend(prefix, l.last+"\x00", func(*cache.Entry) bool { n++; return true })
		return n
	})
}

// lister collects entries until its limit is reached and one more is seen.
type lister struct {
	registry *Registry
	prefix   string
	filter   cache.Filter
	limit    int64

	list   *List
	last   string
	walked int
	more   bool
}

func (l *lister) take(e *cache.Entry) bool {
	if l.limit > 0 && int64(len(l.list.Entries)) == l.limit {
		l.more = true
		return false
	}
	l.walked++
	l.last = e.Key
	if l.filter.Matches(e) {
		l.list.Entries = append(l.list.Entries, e)
	}
	return true
}

func (l *lister) finish(remaining func() int64) (*List, error) {
	if !l.more {
		return l.list, nil
	}
	next, err := encodeToken(l.last, l.prefix, l.list.Revision)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	l.list.Continue = next
	if l.filter.Labels == nil && l.filter.Fields == nil {
		l.list.Remaining = ptr.To(remaining())
	}
	return l.list, nil
}
