package podautoscaler

import (
	"context"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scaleOf reads the scale of an autoscaler's target, in whichever version serves one.
func (r *reconciler) scaleOf(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) (client.Object, *autoscalingv1.Scale, error) {
	ref := hpa.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("read the target's version: %w", err)
	}
	mappings, err := r.client.RESTMapper().RESTMappings(schema.GroupKind{Group: gv.Group, Kind: ref.Kind})
	if err != nil {
		return nil, nil, err
	}
	var first error
	for _, mapping := range mappings {
		target := &unstructured.Unstructured{}
		target.SetGroupVersionKind(mapping.GroupVersionKind)
		target.SetNamespace(hpa.Namespace)
		target.SetName(ref.Name)
		scale := &autoscalingv1.Scale{}
		if err = r.client.SubResource("scale").Get(ctx, target, scale); err == nil {
			return target, scale, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New("unrecognized resource")
	}
	return nil, nil, first
}
