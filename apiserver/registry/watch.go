package registry

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

const (
	// bookmarkInterval is how often a watcher is told how far it is.
	bookmarkInterval = time.Minute
	// bookmarkBeforeEnd is how long before its end a watch is told so once more: who comes again then asks for little.
	bookmarkBeforeEnd = 2 * time.Second
)

// Watching is a watch that began.
type Watching struct {
	*cache.Watcher
	// Initial objects to be sent first, as of Revision.
	Initial  []*cache.Entry
	Revision int64
	// InitialEnd: a bookmark that says so follows the initial objects.
	InitialEnd bool
	Filter     cache.Filter
	Stop       func()

	seen func() int64
}

// Frames takes what a watch tells.
type Frames interface {
	// Entry tells of an object: that it was added, modified or deleted, as far as the watch sees.
	Entry(watch.EventType, *cache.Entry) error
	// Bookmark tells that all up to a revision was told; initialEnd: and that the initial objects are over.
	Bookmark(revision int64, initialEnd bool) error
	// Flush is called when nothing more is at hand.
	Flush() error
}

// Watch begins a watch: after a version, or with the present objects first when none is given or they are asked for.
func (r *Registry) Watch(ctx context.Context, namespace string, o *internalversion.ListOptions) (*Watching, error) {
	if err := r.checkNamespace(namespace); err != nil {
		return nil, err
	}
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := &Watching{Filter: Filter(namespace, o), Revision: version, seen: r.Cache.Revision}
	initial := ptr.Deref(o.SendInitialEvents, version == 0)
	if o.SendInitialEvents != nil && !*o.SendInitialEvents && version == 0 {
		w.Revision = r.Cache.Revision()
	}
	if initial {
		if err := r.wait(ctx, o.ResourceVersion); err != nil {
			return nil, err
		}
		prefix := r.Resource.Prefix
		if r.Resource.Namespaced && namespace != "" {
			prefix += namespace + "/"
		}
		if err := r.readable(prefix); err != nil {
			return nil, err
		}
		s := r.live().Snapshot()
		w.Revision = s.Revision
		w.InitialEnd = o.SendInitialEvents != nil && o.AllowWatchBookmarks
		s.AscendSelected(&w.Filter, prefix, prefix, func(e *cache.Entry) bool {
			w.Initial = append(w.Initial, e)
			return true
		})
	}
	w.Watcher, err = r.live().Watch(ctx, w.Revision, w.Filter)
	if errors.Is(err, store.ErrCompacted) {
		return nil, apierrors.NewResourceExpired(expiredWatchText)
	}
	if err != nil {
		return nil, storeError(err)
	}
	w.Stop = func() { r.live().Stop(w.Watcher) }
	return w, nil
}

// Follow tells the initial objects and then what changes, until ctx ends, to fails, or the watcher is ended (cache.ErrEnded).
// With bookmarks it tells each minute how far it is, and once more shortly before ctx ends.
func (w *Watching) Follow(ctx context.Context, bookmarks bool, to Frames) error {
	for _, e := range w.Initial {
		if err := to.Entry(watch.Added, e); err != nil {
			return err
		}
	}
	w.Initial = nil
	if w.InitialEnd {
		if err := to.Bookmark(w.Revision, true); err != nil {
			return err
		}
	}
	if err := to.Flush(); err != nil {
		return err
	}
	return w.follow(ctx, bookmarks, to)
}

func (w *Watching) follow(ctx context.Context, bookmarks bool, to Frames) error {
	deadline, _ := ctx.Deadline()
	told, next := w.Revision, nextBookmark(time.Now(), deadline)
	for {
		seen := w.seen()
		wait, cancel := ctx, context.CancelFunc(func() {})
		if bookmarks && !next.IsZero() {
			wait, cancel = context.WithDeadline(ctx, next)
		}
		events, err := w.Next(wait)
		cancel()
		switch {
		case err == nil:
			for _, e := range events {
				if err := w.tell(e, to); err != nil {
					return err
				}
			}
			told = events[len(events)-1].Revision
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			// Nothing was at hand after seen was read: all up to there was told, unless what was before is still being read.
			if !w.Replaying() {
				told = max(told, seen)
			}
		default:
			return err
		}
		if now := time.Now(); bookmarks && !next.IsZero() && !now.Before(next) {
			if err := to.Bookmark(told, false); err != nil {
				return err
			}
			next = nextBookmark(now, deadline)
		}
		if err := to.Flush(); err != nil {
			return err
		}
	}
}

// nextBookmark is when a watch that ends at the deadline, or never if that is zero, is told the next time how far it is; zero: it
// is not told again.
func nextBookmark(now, deadline time.Time) time.Time {
	next := now.Add(bookmarkInterval)
	if deadline.IsZero() {
		return next
	}
	if last := deadline.Add(-bookmarkBeforeEnd); last.Before(next) {
		next = last
	}
	if !next.After(now) {
		return time.Time{}
	}
	return next
}

// tell tells of one event what the watch's filter makes of it.
func (w *Watching) tell(e *cache.Event, to Frames) error {
	now, before := w.Filter.Matches(e.Entry), w.Filter.Matches(e.Previous)
	switch {
	case now && before:
		return to.Entry(watch.Modified, e.Entry)
	case now:
		return to.Entry(watch.Added, e.Entry)
	case before:
		return to.Entry(watch.Deleted, e.Gone())
	}
	return nil
}
