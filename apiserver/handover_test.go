package apiserver_test

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/internal/handover"
)

// sharedSource is a component's source of objects that it shares.
func sharedSource(t *testing.T, s *apiserver.Server, w handover.Watch) cache.ListerWatcherWithContext {
	t.Helper()
	sharer, err := handover.New(&rest.Config{Host: "https://in-process", Transport: s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}}), QPS: -1})
	if err != nil || sharer == nil {
		t.Fatalf("no sharer: %v", err)
	}
	return cache.ToListerWatcherWithContext(sharer.ListWatch(&cache.ListWatch{}, w))
}

func watchShared(t *testing.T, source cache.ListerWatcherWithContext, o metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := source.WatchWithContext(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func nextEvent(t *testing.T, w watch.Interface, want watch.EventType) runtime.Object {
	t.Helper()
	select {
	case e, open := <-w.ResultChan():
		if !open || e.Type != want {
			t.Fatalf("got %v of %T, want %v; open: %v", e.Type, e.Object, want, open)
		}
		return e.Object
	case <-t.Context().Done():
		t.Fatal("nothing came")
	}
	return nil
}

var sharedMaps = handover.PathOf(corev1.SchemeGroupVersion.WithResource("configmaps"))

// TestWatchersShareObjects: all who ask get the same object of every event, which is what a client decodes but for managedFields.
func TestWatchersShareObjects(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx, maps := t.Context(), c.CoreV1().ConfigMaps("default")
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "1"}}, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	selected := handover.Watch{Path: sharedMaps, FieldSelector: "metadata.name=a"}
	all := metav1.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	first, second := watchShared(t, sharedSource(t, s, selected), all), watchShared(t, sharedSource(t, s, selected), all)
	same := func(kind watch.EventType, want *corev1.ConfigMap) {
		t.Helper()
		a, b := nextEvent(t, first, kind), nextEvent(t, second, kind)
		if a != b {
			t.Errorf("%v: two objects for two watchers", kind)
		}
		want = want.DeepCopy()
		want.ManagedFields = nil
		want.ResourceVersion = a.(*corev1.ConfigMap).ResourceVersion
		if !equality.Semantic.DeepEqual(a, want) {
			t.Errorf("%v: got %+v, want %+v", kind, a, want)
		}
	}
	same(watch.Added, made)
	for _, w := range []watch.Interface{first, second} {
		if o := nextEvent(t, w, watch.Bookmark).(*corev1.ConfigMap); o.Annotations[metav1.InitialEventsAnnotationKey] != "true" || o.ResourceVersion == "" {
			t.Errorf("the initial events end with %+v", o.ObjectMeta)
		}
	}
	patched, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"k":"w"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same(watch.Modified, patched)
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	same(watch.Deleted, patched)
	present, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first.Stop()
	for range first.ResultChan() {
		t.Error("an event after the end")
	}
	late := watchShared(t, sharedSource(t, s, selected), metav1.ListOptions{ResourceVersion: made.ResourceVersion})
	if o := nextEvent(t, late, watch.Modified).(*corev1.ConfigMap); o.Data["k"] != "w" {
		t.Errorf("a late watch is told %v", o.Data)
	}
	if o := nextEvent(t, late, watch.Deleted).(*corev1.ConfigMap); o.ResourceVersion == patched.ResourceVersion || o.ResourceVersion > present.ResourceVersion {
		t.Errorf("deleted at %s", o.ResourceVersion)
	}
}

// TestSharedMetadata: a watch of metadata is handed metadata, also where nobody shares the whole.
func TestSharedMetadata(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	partial := watchShared(t, sharedSource(t, s, handover.Watch{Path: sharedMaps, FieldSelector: "metadata.namespace=default", Metadata: true}), metav1.ListOptions{})
	for _, name := range []string{"alone", "beside"} {
		made, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"x/y"}}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o := nextEvent(t, partial, watch.Added).(*metav1.PartialObjectMetadata)
		made.ManagedFields = nil
		if !equality.Semantic.DeepEqual(o.ObjectMeta, made.ObjectMeta) {
			t.Errorf("got %+v, want %+v", o.ObjectMeta, made.ObjectMeta)
		}
		whole := watchShared(t, sharedSource(t, s, handover.Watch{Path: sharedMaps, FieldSelector: "metadata.name=" + name}), metav1.ListOptions{})
		nextEvent(t, whole, watch.Added)
	}
}

// TestSharedErrors: what can't be watched is answered as over a network.
func TestSharedErrors(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	if _, err := sharedSource(t, s, handover.Watch{Path: sharedMaps, FieldSelector: "no.such=field"}).WatchWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("a selector of an unknown field: %v", err)
	}
	if _, err := sharedSource(t, s, handover.Watch{Path: "/api/v1/nosuch"}).WatchWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an unknown resource: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w, err := sharedSource(t, s, handover.Watch{Path: sharedMaps}).WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range w.ResultChan() { // ends with its context
	}
}

// deaf is a transport whose server does not hear that objects are asked for.
type deaf struct{ handover.Transport }

func (d deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del(handover.Header)
	return d.Transport.RoundTrip(r)
}

// TestBytesAreForTheOwnSource: where the server hands nothing over, an informer watches as it would alone.
func TestBytesAreForTheOwnSource(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	transport := s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}}).(handover.Transport)
	sharer, err := handover.New(&rest.Config{Host: "https://in-process", Transport: deaf{transport}})
	if err != nil {
		t.Fatal(err)
	}
	own := watch.NewFake()
	source := sharer.ListWatch(&cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return own, nil }},
		handover.Watch{Path: sharedMaps})
	if w, err := cache.ToListerWatcherWithContext(source).WatchWithContext(t.Context(), metav1.ListOptions{}); err != nil || w != own {
		t.Errorf("got %v, %v", w, err)
	}
}

// TestNothingIsSharedOverANetwork: there an informer keeps its own source.
func TestNothingIsSharedOverANetwork(t *testing.T) {
	t.Parallel()
	sharer, err := handover.New(&rest.Config{Host: "https://127.0.0.1:1"})
	if err != nil || sharer != nil {
		t.Fatalf("got %v, %v", sharer, err)
	}
	own := &cache.ListWatch{}
	if sharer.ListWatch(own, handover.Watch{Path: sharedMaps}) != cache.ListerWatcher(own) {
		t.Error("another source")
	}
}
