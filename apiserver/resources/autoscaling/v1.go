package autoscaling

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// V1 is the older form of a HorizontalPodAutoscaler. Its rules are the newer form's.
var V1 = resource.Define(resource.Kind[*autoscalingv1.HorizontalPodAutoscaler]{
	Name:     resource.Name{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Short: []string{"hpa"}, Categories: []string{"all"}, Namespaced: true},
	List:     &autoscalingv1.HorizontalPodAutoscalerList{},
	Store:    "horizontalpodautoscalers",
	StoredAs: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	ToStorage: func(o resource.Object) (resource.Object, error) {
		return toV2(o.(*autoscalingv1.HorizontalPodAutoscaler)), nil
	},
	FromStorage: func(o resource.Object) (resource.Object, error) {
		return fromV2(o.(*autoscalingv2.HorizontalPodAutoscaler)), nil
	},
	Default: func(h *autoscalingv1.HorizontalPodAutoscaler) {
		if h.Spec.MinReplicas == nil {
			h.Spec.MinReplicas = ptr.To[int32](1)
		}
		// What the annotations say beside the fields is read once, as the newer form reads it.
		*h = *fromV2(toV2(h))
	},
	Strategy: resource.Strategy[*autoscalingv1.HorizontalPodAutoscaler]{
		PrepareForCreate: func(ctx context.Context, h *autoscalingv1.HorizontalPodAutoscaler) {
			n := toV2(h)
			HorizontalPodAutoscaler.PrepareForCreate(ctx, n)
			*h = *fromV2(n)
		},
		PrepareForUpdate: func(ctx context.Context, h, old *autoscalingv1.HorizontalPodAutoscaler) {
			n := toV2(h)
			HorizontalPodAutoscaler.PrepareForUpdate(ctx, n, toV2(old))
			*h = *fromV2(n)
		},
		Validate: func(_ context.Context, h *autoscalingv1.HorizontalPodAutoscaler) field.ErrorList {
			return validate(&toV2(h).Spec, nil)
		},
		ValidateUpdate: func(_ context.Context, h, old *autoscalingv1.HorizontalPodAutoscaler) field.ErrorList {
			return validate(&toV2(h).Spec, &toV2(old).Spec)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*autoscalingv1.HorizontalPodAutoscaler]{
		PrepareForUpdate: func(_ context.Context, h, old *autoscalingv1.HorizontalPodAutoscaler) {
			n := toV2(h)
			n.Spec = toV2(old).Spec
			*h = *fromV2(n)
		},
		ValidateUpdate: func(_ context.Context, h, _ *autoscalingv1.HorizontalPodAutoscaler) field.ErrorList {
			return validateStatus(&toV2(h).Status)
		},
		ResetFields: []string{"spec"},
	},
	FieldAnnotations: roundTrip,
	ValidateName:     apivalidation.NameIsDNSSubdomain,
	Columns:          columns,
	Row:              func(h *autoscalingv1.HorizontalPodAutoscaler) []any { return row(toV2(h)) },
})
