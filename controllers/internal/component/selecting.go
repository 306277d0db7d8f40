package component

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Selecting gives the workloads (of whichever kind list is) of the object's namespace whose selector matches its labels: those that might adopt it. An
// empty selector selects nothing here, so that a mistake can't adopt everything.
func Selecting(ctx context.Context, reader client.Reader, object client.Object, list client.ObjectList) []reconcile.Request {
	if len(object.GetLabels()) == 0 {
		return nil
	}
	if err := reader.List(ctx, list, client.InNamespace(object.GetNamespace())); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	var requests []reconcile.Request
	add := func(name string, selector *metav1.LabelSelector) {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || parsed.Empty() || !parsed.Matches(labels.Set(object.GetLabels())) {
			return
		}
		key := types.NamespacedName{Namespace: object.GetNamespace(), Name: name}
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	switch list := list.(type) {
	case *appsv1.DeploymentList:
		for i := range list.Items {
			add(list.Items[i].Name, list.Items[i].Spec.Selector)
		}
	case *appsv1.ReplicaSetList:
		for i := range list.Items {
			add(list.Items[i].Name, list.Items[i].Spec.Selector)
		}
	case *appsv1.DaemonSetList:
		for i := range list.Items {
			add(list.Items[i].Name, list.Items[i].Spec.Selector)
		}
	case *appsv1.StatefulSetList:
		for i := range list.Items {
			add(list.Items[i].Name, list.Items[i].Spec.Selector)
		}
	case *batchv1.JobList:
		for i := range list.Items {
			add(list.Items[i].Name, list.Items[i].Spec.Selector)
		}
	case *corev1.ReplicationControllerList:
		for i := range list.Items {
			add(list.Items[i].Name, &metav1.LabelSelector{MatchLabels: list.Items[i].Spec.Selector})
		}
	default:
		panic(fmt.Sprintf("a %T has no selector", list))
	}
	return requests
}

// Owning maps an object to its controller, if that is of the given kind, or, for an
// orphan, to all in list that might adopt it.
func Owning(ctx context.Context, reader client.Reader, object client.Object, kind string, list client.ObjectList) []reconcile.Request {
	owner := metav1.GetControllerOfNoCopy(object)
	switch {
	case owner == nil:
		return Selecting(ctx, reader, object, list)
	case owner.Kind != kind:
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}}}
}
