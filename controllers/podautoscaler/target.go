package podautoscaler

import (
	"context"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
)

// scaleOf reads the scale of an autoscaler's target, of whichever of its resources has one.
func (r *reconciler) scaleOf(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) (schema.GroupResource, *autoscalingv1.Scale, error) {
	ref := hpa.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return schema.GroupResource{}, nil, fmt.Errorf("read the target's version: %w", err)
	}
	mappings, err := r.client.RESTMapper().RESTMappings(schema.GroupKind{Group: gv.Group, Kind: ref.Kind})
	if err != nil {
		return schema.GroupResource{}, nil, err
	}
	var first error
	for _, mapping := range mappings {
		target := mapping.Resource.GroupResource()
		scale, err := r.scales.Scales(hpa.Namespace).Get(ctx, target, ref.Name, metav1.GetOptions{})
		if err == nil {
			return target, scale, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New("unrecognized resource")
	}
	return schema.GroupResource{}, nil, first
}

// rescale writes the target's scale, again if somebody else wrote it meanwhile.
func (r *reconciler) rescale(ctx context.Context, target schema.GroupResource, scale *autoscalingv1.Scale, replicas int32) error {
	scales := r.scales.Scales(scale.Namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		scale.Spec.Replicas = replicas
		_, err := scales.Update(ctx, target, scale, metav1.UpdateOptions{})
		if err == nil {
			return nil
		}
		if fresh, getErr := scales.Get(ctx, target, scale.Name, metav1.GetOptions{}); getErr == nil {
			scale = fresh
		}
		return err
	})
}
