package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
)

// Texts of reads of what is compacted, which the registry gives.
const (
	listTooOld     = "The resourceVersion for the provided list is too old."
	continueTooOld = "The provided continue parameter is too old to display a consistent list result."
)

// pageSize is how many keys are read in one go.
const pageSize = 500

// storeReader reads from the store itself.
type storeReader struct {
	form  *form
	store *store.Store
}

func (r *storeReader) current(ctx context.Context, key string) (*store.KV, error) {
	kv, _, err := r.read(ctx, key)
	return kv, err
}

func (r *storeReader) read(ctx context.Context, key string) (*store.KV, int64, error) {
	page, err := r.store.Range(ctx, key, key+"\x00", 1, 0)
	if err != nil || len(page.Items) == 0 {
		return nil, page.Revision, err
	}
	return &page.Items[0], page.Revision, nil
}

func (r *storeReader) settled(context.Context, int64) error { return nil }

func (r *storeReader) wrote(string, []byte, int64) error { return nil }

func (r *storeReader) revision(ctx context.Context) (int64, error) { return r.store.Latest(ctx) }

func (r *storeReader) get(ctx context.Context, key, version string) (*store.KV, error) {
	kv, revision, err := r.read(ctx, key)
	if err != nil {
		return nil, err
	}
	return kv, notOlder(version, revision)
}

// notOlder fails when a version is wanted that is not there yet.
func notOlder(version string, revision int64) error {
	wanted, err := versioner.ParseResourceVersion(version)
	if err != nil {
		return err
	}
	if wanted > uint64(revision) {
		return storage.NewTooLargeResourceVersionError(wanted, uint64(revision), 0)
	}
	return nil
}

func (r *storeReader) list(ctx context.Context, key string, o storage.ListOptions, out *example.PodList) error {
	from, revision, err := listFrom(key, o)
	if err != nil {
		return err
	}
	end := key + "\x00"
	if o.Recursive {
		end = store.PrefixEnd(key)
	}
	var lost []*cache.UnreadableError
	for more := true; more; {
		page, err := r.store.Range(ctx, from, end, pageSize, revision)
		if err != nil {
			return r.listError(ctx, err, key, from, revision, o)
		}
		if revision == 0 {
			if err := notOlder(o.ResourceVersion, page.Revision); err != nil {
				return err
			}
		}
		revision = page.Revision
		more = page.More > 0
		for i, kv := range page.Items {
			from = kv.Key + "\x00"
			pod, err := r.form.pod(ctx, suiteKey(kv.Key), kv.Value, kv.Revision)
			var unreadable *cache.UnreadableError
			switch {
			case errors.As(err, &unreadable):
				lost = append(lost, &cache.UnreadableError{Key: suiteKey(kv.Key), Revision: kv.Revision, Err: unreadable.Err})
				if len(lost) == registry.MaxUnreadable {
					return registry.ReadError(pods, lost, nil)
				}
				continue
			case err != nil && len(lost) > 0:
				return registry.ReadError(pods, lost, err)
			case err != nil:
				return err
			}
			if selects(&o.Predicate, pod) {
				out.Items = append(out.Items, *pod)
			}
			left := page.More + int64(len(page.Items)-i-1)
			if o.Predicate.Limit > 0 && int64(len(out.Items)) == o.Predicate.Limit && left > 0 {
				return r.cut(kv.Key, key, revision, left, o, out)
			}
		}
	}
	if len(lost) > 0 {
		return registry.ReadError(pods, lost, nil)
	}
	return versioner.UpdateList(out, uint64(revision), "", nil)
}

// pods are what the suites store.
var pods = example.Resource("pods")

// cut ends a list that goes on in another.
func (r *storeReader) cut(last, prefix string, revision, left int64, o storage.ListOptions, out *example.PodList) error {
	token, err := storage.EncodeContinue(last+"\x00", prefix, revision)
	if err != nil {
		return err
	}
	remaining := &left
	if !o.Predicate.Empty() {
		remaining = nil
	}
	return versioner.UpdateList(out, uint64(revision), token, remaining)
}

// listFrom tells where a list begins, and at which revision; 0: the newest.
func listFrom(key string, o storage.ListOptions) (from string, revision int64, err error) {
	revision, from, err = storage.ValidateListOptions(key, versioner, o)
	if from == "" {
		from = key
	}
	return from, revision, err
}

func (r *storeReader) listError(ctx context.Context, err error, key, from string, revision int64, o storage.ListOptions) error {
	switch {
	case errors.Is(err, store.ErrFuture):
		latest, latestErr := r.store.Latest(ctx)
		return errors.Join(latestErr, storage.NewTooLargeResourceVersionError(uint64(revision), uint64(latest), 0))
	case !errors.Is(err, store.ErrCompacted):
		return err
	case o.Predicate.Continue == "":
		return apierrors.NewResourceExpired(listTooOld)
	}
	token, err := storage.EncodeContinue(from, key, -1)
	if err != nil {
		return err
	}
	expired := apierrors.NewResourceExpired(continueTooOld)
	expired.ErrStatus.ListMeta.Continue = token
	return expired
}

func (r *storeReader) watch(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error) {
	version, err := versioner.ParseResourceVersion(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	revision, initial := int64(version), version == 0
	if o.SendInitialEvents != nil {
		initial = *o.SendInitialEvents
	}
	if !initial && revision == 0 {
		// What is written once this returned is to be seen.
		if revision, err = r.store.Latest(ctx); err != nil {
			return nil, err
		}
	}
	w := newWatching(ctx)
	go w.run(func(ctx context.Context, send func(watch.Event) error) error {
		s := &storeWatch{reader: r, key: key, o: o, send: send}
		return s.run(ctx, revision, initial)
	})
	return w, nil
}

// storeWatch is one watch of the store.
type storeWatch struct {
	reader *storeReader
	key    string
	o      storage.ListOptions
	send   func(watch.Event) error
}

func (s *storeWatch) run(ctx context.Context, revision int64, initial bool) (err error) {
	if initial {
		if revision, err = s.initial(ctx); err != nil {
			return err
		}
	}
	if s.o.ProgressNotify {
		stop := everySecond(ctx, s.reader.store.RequestProgress)
		defer stop()
	}
	err = s.reader.store.Watch(ctx, s.key, revision, true, func(seen int64, changes []store.Change) error { return s.changed(ctx, seen, changes) })
	if errors.Is(err, store.ErrCompacted) {
		return apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.")
	}
	return err
}

// initial sends what there is, and returns as of which revision.
func (s *storeWatch) initial(ctx context.Context) (int64, error) {
	var list example.PodList
	o := storage.ListOptions{Predicate: s.o.Predicate, Recursive: s.o.Recursive}
	if err := s.reader.list(ctx, s.key, o, &list); err != nil {
		return 0, err
	}
	for i := range list.Items {
		if err := s.send(watch.Event{Type: watch.Added, Object: &list.Items[i]}); err != nil {
			return 0, err
		}
	}
	revision, err := strconv.ParseInt(list.ResourceVersion, 10, 64)
	if err != nil {
		return 0, err
	}
	if s.o.SendInitialEvents != nil && s.o.Predicate.AllowWatchBookmarks {
		return revision, s.send(bookmark(revision, true))
	}
	return revision, nil
}

func bookmark(revision int64, initialEnd bool) watch.Event {
	pod := &example.Pod{}
	pod.ResourceVersion = strconv.FormatInt(revision, 10)
	if initialEnd {
		pod.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return watch.Event{Type: watch.Bookmark, Object: pod}
}

func (s *storeWatch) changed(ctx context.Context, seen int64, changes []store.Change) error {
	if len(changes) == 0 && s.o.ProgressNotify {
		return s.send(bookmark(seen, false))
	}
	for _, c := range changes {
		if !s.o.Recursive && c.Key != s.key {
			continue
		}
		if err := s.change(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *storeWatch) change(ctx context.Context, c store.Change) error {
	var now, before *example.Pod
	var err error
	if !c.Deleted {
		if now, err = s.reader.form.pod(ctx, suiteKey(c.Key), c.Value, c.Revision); err != nil {
			return err
		}
	}
	if c.Previous != nil {
		if before, err = s.reader.form.pod(ctx, suiteKey(c.Key), c.Previous, c.Revision); err != nil {
			return stateBefore(c, err)
		}
	}
	is, was := now != nil && selects(&s.o.Predicate, now), before != nil && selects(&s.o.Predicate, before)
	switch {
	case is && was:
		return s.send(watch.Event{Type: watch.Modified, Object: now})
	case is:
		return s.send(watch.Event{Type: watch.Added, Object: now})
	case was:
		return s.send(watch.Event{Type: watch.Deleted, Object: before})
	}
	return nil
}

// stateBefore is the error of an event whose object can't be read. Of one that went it says so.
func stateBefore(c store.Change, err error) error {
	var unreadable *cache.UnreadableError
	if !c.Deleted || !errors.As(err, &unreadable) {
		return fmt.Errorf("the state before: %w", err)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonStoreReadError,
		Message: fmt.Sprintf("saw a DELETED event, but object data is corrupt: %v", err)}}
}
