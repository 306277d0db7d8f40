package replicaset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

const name = "replicaset-controller"

// Component is the ReplicaSet controller.
var Component = component.Component{
	Name:    name,
	Watches: []string{"apps/replicasets", "pods"},
	Writes: []string{
		"apps/replicasets:status", "pods:create for replicasets", "pods:delete for replicasets",
		"pods:ownerReferences for replicasets",
	},
	Add: Shell[*appsv1.ReplicaSet]{
		Name: name, Source: name, Kind: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		New:       func() *appsv1.ReplicaSet { return &appsv1.ReplicaSet{} },
		List:      func() client.ObjectList { return &appsv1.ReplicaSetList{} },
		Set:       func(rs *appsv1.ReplicaSet) *appsv1.ReplicaSet { return rs },
		SetStatus: func(rs *appsv1.ReplicaSet, status appsv1.ReplicaSetStatus) { rs.Status = status },
		Related:   related,
	}.Add,
}

// related lists the pods of every ReplicaSet that shares this one's owner.
func related(ctx context.Context, control podcontrol.Control, rs *appsv1.ReplicaSet) ([]*corev1.Pod, error) {
	owner := metav1.GetControllerOfNoCopy(rs)
	if owner == nil {
		return control.Owned(ctx, rs.Namespace, rs.UID)
	}
	var sets appsv1.ReplicaSetList
	if err := control.Client.List(ctx, &sets, client.InNamespace(rs.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list replica sets: %w", err)
	}
	var related []*corev1.Pod
	for i := range sets.Items {
		if other := metav1.GetControllerOfNoCopy(&sets.Items[i]); other == nil || other.UID != owner.UID {
			continue
		}
		pods, err := control.Owned(ctx, rs.Namespace, sets.Items[i].UID)
		if err != nil {
			return nil, err
		}
		related = append(related, pods...)
	}
	return related, nil
}
