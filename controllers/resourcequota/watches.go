package resourcequota

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kogge-dev/kogge/internal/quota"
)

const (
	// goneDelay gathers the objects that go at the same time.
	goneDelay = 100 * time.Millisecond
	// comeDelay is longer, since new objects have been charged for already.
	comeDelay = 2 * time.Second
)

// watches has the objects that quotas count, and wakes the quotas when those change.
type watches struct {
	cache      cache.Cache
	mapper     meta.RESTMapper
	controller controller.Controller
	client     client.Client
	clock      clock.PassiveClock

	mu sync.Mutex
	// begun has what each watched resource is watched as.
	begun map[schema.GroupResource]client.Object
}

func newWatches(m manager.Manager, of controller.Controller, now clock.PassiveClock) *watches {
	return &watches{
		cache: m.GetCache(), mapper: m.GetRESTMapper(), controller: of, client: m.GetClient(), clock: now,
		begun: map[schema.GroupResource]client.Object{},
	}
}

// errUnknown means that a quota counts something that isn't there to be counted.
var errUnknown = errors.New("not a namespaced resource that the server serves")

func isUnknown(err error) bool { return errors.Is(err, errUnknown) || meta.IsNoMatchError(err) }

// list gives the resource's objects in a namespace: whole ones where their content counts,
// else their metadata. They belong to the cache and must not be changed.
func (w *watches) list(ctx context.Context, evaluator quota.Evaluator, namespace string) ([]runtime.Object, error) {
	watched, err := w.ensure(ctx, evaluator)
	if err != nil {
		return nil, err
	}
	var list client.ObjectList
	switch watched := watched.(type) {
	case *corev1.Pod:
		list = &corev1.PodList{}
	case *corev1.Service:
		list = &corev1.ServiceList{}
	case *corev1.PersistentVolumeClaim:
		list = &corev1.PersistentVolumeClaimList{}
	case *resourcev1.ResourceClaim:
		list = &resourcev1.ResourceClaimList{}
	case *metav1.PartialObjectMetadata:
		kind := watched.GroupVersionKind()
		kind.Kind += "List"
		partial := &metav1.PartialObjectMetadataList{}
		partial.SetGroupVersionKind(kind)
		list = partial
	}
	if err := w.cache.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list %s: %w", evaluator.Resource, err)
	}
	objects := make([]runtime.Object, 0, meta.LenList(list))
	err = meta.EachListItem(list, func(object runtime.Object) error {
		objects = append(objects, object)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", evaluator.Resource, err)
	}
	return objects, nil
}

// ensure watches a resource from its first use on.
func (w *watches) ensure(ctx context.Context, evaluator quota.Evaluator) (client.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if watched, ok := w.begun[evaluator.Resource]; ok {
		return watched, nil
	}
	watched, err := w.object(evaluator)
	if err != nil {
		return nil, err
	}
	changes := source.Kind(w.cache, watched, w.events(evaluator))
	if err := w.controller.Watch(changes); err != nil {
		return nil, fmt.Errorf("watch %s: %w", evaluator.Resource, err)
	}
	w.begun[evaluator.Resource] = watched
	// Whoever lists before the watch has begun counts what may go unnoticed in between.
	if err := changes.WaitForSync(ctx); err != nil {
		return nil, fmt.Errorf("begin to watch %s: %w", evaluator.Resource, err)
	}
	return watched, nil
}

// object is what the resource is watched as.
func (w *watches) object(evaluator quota.Evaluator) (client.Object, error) {
	switch evaluator.Resource {
	case schema.GroupResource{Resource: "pods"}:
		return &corev1.Pod{}, nil
	case schema.GroupResource{Resource: "services"}:
		return &corev1.Service{}, nil
	case schema.GroupResource{Resource: "persistentvolumeclaims"}:
		return &corev1.PersistentVolumeClaim{}, nil
	}
	kind, err := w.mapper.KindFor(evaluator.Resource.WithVersion(""))
	if err != nil {
		return nil, fmt.Errorf("find the kind of %s: %w", evaluator.Resource, err)
	}
	mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("find the scope of %s: %w", evaluator.Resource, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace || mapping.Resource.GroupResource() != evaluator.Resource {
		return nil, fmt.Errorf("%s: %w", evaluator.Resource, errUnknown)
	}
	if !evaluator.CountsObjects() {
		return &resourcev1.ResourceClaim{}, nil
	}
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(kind)
	return partial, nil
}

// events wakes the quotas to which a change makes a difference.
func (w *watches) events(evaluator quota.Evaluator) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, before, after client.Object, q queue, delay time.Duration) {
		var list corev1.ResourceQuotaList
		namespace := cmp.Or(before, after).GetNamespace() // one of them is there
		if err := w.cache.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return // the cache is closing; there is nobody left to wake
		}
		for i := range list.Items {
			if matters(&list.Items[i].Spec, evaluator, before, after, w.clock.Now()) {
				q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}, delay)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				wake(ctx, nil, e.Object, q, comeDelay)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if !evaluator.CountsObjects() {
				wake(ctx, e.ObjectOld, e.ObjectNew, q, goneDelay)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, e.Object, nil, q, goneDelay) },
	}
}

// prune ends the watches of metadata that no quota counts any more.
func (w *watches) prune(ctx context.Context) error {
	var list corev1.ResourceQuotaList
	if err := w.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list quotas: %w", err)
	}
	needed := map[schema.GroupResource]bool{}
	for i := range list.Items {
		for _, evaluator := range quota.Measured(quota.Names(list.Items[i].Spec.Hard)) {
			needed[evaluator.Resource] = true
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for resource, watched := range w.begun {
		if _, partial := watched.(*metav1.PartialObjectMetadata); !partial || needed[resource] {
			continue
		}
		if err := w.cache.RemoveInformer(ctx, watched); err != nil {
			return fmt.Errorf("end the watch of %s: %w", resource, err)
		}
		delete(w.begun, resource)
	}
	return nil
}
