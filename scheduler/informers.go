package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/internal/handover"
)

// newInformer is how a factory makes one.
type newInformer = func(kubernetes.Interface, time.Duration) toolscache.SharedIndexInformer

// unfinishedPods watches the pods that take room: finished ones take none, and there may be very many of them.
func unfinishedPods(sharer *handover.Sharer) newInformer {
	selector := "status.phase!=" + string(corev1.PodSucceeded) + ",status.phase!=" + string(corev1.PodFailed)
	return func(client kubernetes.Interface, resync time.Duration) toolscache.SharedIndexInformer {
		source := toolscache.ToListWatcherWithWatchListSemantics(handover.Source(client.CoreV1().Pods(metav1.NamespaceAll), selector), client)
		shared := sharer.ListWatch(source, handover.Watch{Path: handover.PathOf(corev1.SchemeGroupVersion.WithResource("pods")), FieldSelector: selector})
		return toolscache.NewSharedIndexInformer(shared, &corev1.Pod{}, resync, toolscache.Indexers{})
	}
}

// allNodes watches the nodes.
func allNodes(sharer *handover.Sharer) newInformer {
	return func(client kubernetes.Interface, resync time.Duration) toolscache.SharedIndexInformer {
		source := toolscache.ToListWatcherWithWatchListSemantics(handover.Source(client.CoreV1().Nodes(), ""), client)
		shared := sharer.ListWatch(source, handover.Watch{Path: handover.PathOf(corev1.SchemeGroupVersion.WithResource("nodes"))})
		return toolscache.NewSharedIndexInformer(shared, &corev1.Node{}, resync, toolscache.Indexers{})
	}
}

// withoutManagedFields drops what no rule looks at and is often half of an object.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil && accessor.GetManagedFields() != nil { // a shared one has none
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
