package backends

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// ServicesOf maps a pod to the Services that select it. Of a change of labels the
// handler asks with both the old and the new pod.
func ServicesOf(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, pod client.Object) []reconcile.Request {
		var services corev1.ServiceList
		if err := reader.List(ctx, &services, client.InNamespace(pod.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return nil // the cache is closing; there is nobody left to wake
		}
		var requests []reconcile.Request
		for i := range services.Items {
			service := &services.Items[i]
			if Wanted(service) && labels.SelectorFromValidatedSet(service.Spec.Selector).Matches(labels.Set(pod.GetLabels())) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)})
			}
		}
		return requests
	}
}

// PodChanges lets through what may change a list of endpoints, so that the many updates
// of a pod's status that don't cost nothing.
func PodChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Pod)
		after, ok2 := e.ObjectNew.(*corev1.Pod)
		if !ok || !ok2 {
			return true
		}
		return podstate.Ready(before) != podstate.Ready(after) ||
			podstate.Finished(before) != podstate.Finished(after) ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			before.Spec.NodeName != after.Spec.NodeName ||
			before.Spec.Hostname != after.Spec.Hostname || before.Spec.Subdomain != after.Spec.Subdomain ||
			!equality.Semantic.DeepEqual(before.Status.PodIPs, after.Status.PodIPs) ||
			!equality.Semantic.DeepEqual(before.Labels, after.Labels)
	}}
}
