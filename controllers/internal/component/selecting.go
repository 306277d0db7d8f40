package component

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Selecting gives the Deployments or ReplicaSets (whichever kind list is of) of the
// object's namespace whose selector matches its labels: those that might adopt it. An
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
	}
	return requests
}
