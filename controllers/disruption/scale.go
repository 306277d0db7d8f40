package disruption

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scalesOf finds the workload behind each pod. Those that are gone are left out.
func (r *reconciler) scalesOf(ctx context.Context, pods []*corev1.Pod) (map[types.UID]Scale, error) {
	scales := map[types.UID]Scale{}
	for _, pod := range pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		if controller == nil {
			continue
		}
		if _, known := scales[controller.UID]; known {
			continue
		}
		scale, err := r.scaleOf(ctx, pod.Namespace, controller)
		if err != nil {
			return nil, err
		}
		if scale != nil {
			scales[controller.UID] = *scale
		}
	}
	return scales, nil
}

// scaleOf reads the kinds that are watched anyway from the cache, and asks all others for
// their scale; nil means that the workload is gone.
func (r *reconciler) scaleOf(ctx context.Context, namespace string, controller *metav1.OwnerReference) (*Scale, error) {
	kind := schema.FromAPIVersionAndKind(controller.APIVersion, controller.Kind)
	var replicas func() *int32
	var workload client.Object
	switch kind.GroupKind() {
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "ReplicaSet"}:
		set := &appsv1.ReplicaSet{}
		workload, replicas = set, func() *int32 { return set.Spec.Replicas }
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}:
		deployment := &appsv1.Deployment{}
		workload, replicas = deployment, func() *int32 { return deployment.Spec.Replicas }
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "StatefulSet"}:
		set := &appsv1.StatefulSet{}
		workload, replicas = set, func() *int32 { return set.Spec.Replicas }
	case schema.GroupKind{Kind: "ReplicationController"}:
		rc := &corev1.ReplicationController{}
		workload, replicas = rc, func() *int32 { return rc.Spec.Replicas }
	default:
		return r.askScale(ctx, namespace, kind, controller)
	}
	err := r.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: controller.Name}, workload)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get %s %s: %w", kind.Kind, controller.Name, err)
	case workload.GetUID() != controller.UID:
		return nil, nil
	}
	if parent := metav1.GetControllerOfNoCopy(workload); kind.Kind == "ReplicaSet" && parent != nil && parent.Kind == "Deployment" {
		return r.scaleOf(ctx, namespace, parent)
	}
	return &Scale{controller.UID, ptr.Deref(replicas(), 1)}, nil
}

// askScale asks the API server for the scale of a workload of any kind.
func (r *reconciler) askScale(ctx context.Context, namespace string, kind schema.GroupVersionKind, controller *metav1.OwnerReference) (*Scale, error) {
	mapping, err := r.client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s: %w", kind.Kind, err)
	}
	resource := mapping.Resource.GroupResource()
	found, err := r.scales.Scales(namespace).Get(ctx, resource, controller.Name, metav1.GetOptions{})
	switch {
	case err == nil && found.UID == controller.UID:
		return &Scale{found.UID, found.Spec.Replicas}, nil
	case err == nil:
		return nil, nil
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("get scale of %s %s: %w", kind.Kind, controller.Name, err)
	}
	// Either the workload is gone, or its kind has no scale.
	workload := &metav1.PartialObjectMetadata{}
	workload.SetGroupVersionKind(kind)
	if err := r.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: controller.Name}, workload); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return nil, fmt.Errorf("%s does not implement the scale subresource", resource)
}
