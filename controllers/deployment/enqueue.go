package deployment

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// podDeleted wakes a Deployment that recreates: it waits for the last old pod to be
// really gone, which no ReplicaSet's count tells (a pod being deleted isn't counted).
func (r *reconciler) podDeleted(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	owner := metav1.GetControllerOfNoCopy(e.Object)
	if owner == nil || owner.Kind != "ReplicaSet" {
		return
	}
	rs := &appsv1.ReplicaSet{}
	key := types.NamespacedName{Namespace: e.Object.GetNamespace(), Name: owner.Name}
	if err := r.client.Get(ctx, key, rs); err != nil || rs.UID != owner.UID {
		return // then its Deployment is on its way out too
	}
	parent := metav1.GetControllerOfNoCopy(rs)
	if parent == nil || parent.Kind != deploymentKind.Kind {
		return
	}
	queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: rs.Namespace, Name: parent.Name}})
}

func statusEqual(a, b *appsv1.DeploymentStatus) bool {
	return apiequality.Semantic.DeepEqual(a, b)
}
