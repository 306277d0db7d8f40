package garbagecollector

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/internal/handover"
)

// monitors runs one metadata watch for each resource.
type monitors struct {
	client metadata.Interface
	sharer *handover.Sharer
	logger *slog.Logger
	// observe and forget take what the watches deliver.
	observe func(*Item)
	forget  func(*Item)
	running map[schema.GroupVersionResource]*monitor
}

type monitor struct {
	stop   context.CancelFunc
	synced cache.DoneChecker
}

// sync starts watches for resources that have none and stops those of resources that are
// no longer served. What is known of the latter's objects stays in the graph: a resource
// that discovery misses for a moment must not look like the deletion of all its objects.
func (m *monitors) sync(ctx context.Context, wanted map[schema.GroupVersionResource]schema.GroupVersionKind) error {
	for resource, running := range m.running {
		if _, ok := wanted[resource]; !ok {
			running.stop()
			delete(m.running, resource)
		}
	}
	for resource, kind := range wanted {
		if _, ok := m.running[resource]; ok {
			continue
		}
		started, err := m.start(ctx, resource, kind)
		if err != nil {
			return err
		}
		m.running[resource] = started
	}
	return nil
}

func (m *monitors) start(ctx context.Context, resource schema.GroupVersionResource, kind schema.GroupVersionKind) (*monitor, error) {
	source := cache.ToListWatcherWithWatchListSemantics(handover.Source(m.client.Resource(resource), ""), m.client)
	shared := m.sharer.ListWatch(source, handover.Watch{Path: handover.PathOf(resource), Metadata: true})
	informer := cache.NewSharedIndexInformer(shared, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	if err := informer.SetTransform(onlyWhatMatters); err != nil {
		return nil, fmt.Errorf("watch %s: %w", resource, err)
	}
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		m.logger.Debug("watch broke off and is taken up again", "resource", resource.String(), "error", err)
	})
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", resource, err)
	}
	item := func(object any) *Item {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = unknown.Obj
		}
		accessor, err := meta.Accessor(object)
		if err != nil {
			panic(fmt.Sprintf("a metadata watch of %s delivered a %T", resource, object))
		}
		return NewItem(resource, kind, accessor)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { m.observe(item(object)) },
		UpdateFunc: func(_, object any) { m.observe(item(object)) },
		DeleteFunc: func(object any) { m.forget(item(object)) },
	})
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", resource, err)
	}
	run, stop := context.WithCancel(ctx)
	go informer.RunWithContext(run)
	return &monitor{stop: stop, synced: informer.HasSyncedChecker()}, nil
}

// onlyWhatMatters keeps the watches' own stores small: they hold every object there is.
func onlyWhatMatters(object any) (any, error) {
	partial, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: partial.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: partial.Name, Namespace: partial.Namespace, UID: partial.UID, ResourceVersion: partial.ResourceVersion,
		OwnerReferences: partial.OwnerReferences, Finalizers: partial.Finalizers, DeletionTimestamp: partial.DeletionTimestamp,
	}}, nil
}

// syncTimeout bounds the wait for the first lists: a resource that can't be listed, say
// because its aggregated server is down, must not stop the collection of all others.
const syncTimeout = 30 * time.Second

// waitForFirstLists waits until every watch has delivered what there was.
func (m *monitors) waitForFirstLists(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	synced := make([]cache.DoneChecker, 0, len(m.running))
	for _, running := range m.running {
		synced = append(synced, running.synced)
	}
	if !cache.WaitFor(ctx, "", synced...) && ctx.Err() == context.DeadlineExceeded {
		m.logger.Warn("not every resource could be listed; collecting with those that could")
	}
}
