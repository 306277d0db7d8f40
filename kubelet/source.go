package kubelet

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/internal/handover"
)

// PodSource delivers pods to kubelets. Many kubelets may share one.
type PodSource interface {
	// Subscribe delivers the pods of one node until the returned function is called: those that exist, then Synced,
	// then every change. Calls don't overlap and must not block.
	Subscribe(node string, handler PodHandler) (unsubscribe func())
}

// PodHandler is told about the pods of a node.
type PodHandler struct {
	// Changed is called with a pod that is new or changed. It must not be modified.
	Changed func(*v1.Pod)
	// Gone is called with the last that was seen of a pod that is no more.
	Gone func(*v1.Pod)
	// Synced is called once all pods that existed have been delivered.
	Synced func()
}

// Informer is a PodSource that watches the API: the pods of one node, or all that are assigned to any.
type Informer struct {
	controller cache.SharedIndexInformer

	mu       sync.Mutex
	handlers map[string]PodHandler
	synced   bool
}

var _ PodSource = (*Informer)(nil)

// NewInformer returns a source of the pods of the named node; of all nodes for "". It delivers once it runs. Sharer, if any, lets it share
// the objects with others of the process.
func NewInformer(client corev1.PodsGetter, node string, sharer *handover.Sharer) (*Informer, error) {
	selector := fields.OneTermNotEqualSelector("spec.nodeName", "")
	if node != "" {
		selector = fields.OneTermEqualSelector("spec.nodeName", node)
	}
	source := handover.Source(client.Pods(metav1.NamespaceAll), selector.String())
	i := &Informer{handlers: map[string]PodHandler{}}
	i.controller = cache.NewSharedIndexInformer(sharer.ListWatch(source, handover.Watch{Path: handover.PathOf(v1.SchemeGroupVersion.WithResource("pods")), FieldSelector: selector.String()}), &v1.Pod{}, 0, cache.Indexers{byNode: indexByNode})
	if err := i.controller.SetTransform(withoutManagedFields); err != nil {
		return nil, err
	}
	_, err := i.controller.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { i.changed(object) },
		UpdateFunc: func(_, object any) { i.changed(object) },
		DeleteFunc: func(object any) { i.gone(object) },
	})
	return i, err
}

const byNode = "node"

func indexByNode(object any) ([]string, error) {
	if pod, ok := object.(*v1.Pod); ok {
		return []string{pod.Spec.NodeName}, nil
	}
	return nil, nil
}

func withoutManagedFields(object any) (any, error) {
	if pod, ok := object.(*v1.Pod); ok && pod.ManagedFields != nil { // a shared one has none
		pod.ManagedFields = nil
	}
	return object, nil
}

// Run watches until ctx ends.
func (i *Informer) Run(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.controller.RunWithContext(ctx)
	}()
	if cache.WaitForCacheSync(ctx.Done(), i.controller.HasSynced) {
		i.mu.Lock()
		i.synced = true
		for _, handler := range i.handlers {
			handler.Synced()
		}
		i.mu.Unlock()
	}
	<-done
	return nil
}

// Subscribe implements PodSource.
func (i *Informer) Subscribe(node string, handler PodHandler) func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers[node] = handler
	objects, err := i.controller.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		panic(err) // the index is made in NewInformer
	}
	for _, object := range objects {
		if pod, ok := object.(*v1.Pod); ok {
			handler.Changed(pod)
		}
	}
	if i.synced {
		handler.Synced()
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.handlers, node)
	}
}

func (i *Informer) changed(object any) {
	if pod, ok := object.(*v1.Pod); ok {
		i.mu.Lock()
		defer i.mu.Unlock()
		if handler, known := i.handlers[pod.Spec.NodeName]; known {
			handler.Changed(pod)
		}
	}
}

func (i *Informer) gone(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if pod, ok := object.(*v1.Pod); ok {
		i.mu.Lock()
		defer i.mu.Unlock()
		if handler, known := i.handlers[pod.Spec.NodeName]; known {
			handler.Gone(pod)
		}
	}
}
