package autoscaling

import (
	"context"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var (
	specDocs   = autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()
	statusDocs = autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
)

// HorizontalPodAutoscaler sets how many pods there are by what they are measured to do.
var HorizontalPodAutoscaler = resource.Define(resource.Kind[*autoscalingv2.HorizontalPodAutoscaler]{
	Name:    resource.Name{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Short: []string{"hpa"}, Categories: []string{"all"}, Namespaced: true},
	List:    &autoscalingv2.HorizontalPodAutoscalerList{},
	Store:   "horizontalpodautoscalers",
	Default: defaultAutoscaler,
	Strategy: resource.Strategy[*autoscalingv2.HorizontalPodAutoscaler]{
		PrepareForCreate: func(_ context.Context, h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
			h.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, h, old *autoscalingv2.HorizontalPodAutoscaler) {
			h.Status = old.Status
			if !equality.Semantic.DeepEqual(h.Spec, old.Spec) {
				h.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, h *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			return validate(&h.Spec, nil)
		},
		ValidateUpdate: func(_ context.Context, h, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			return validate(&h.Spec, &old.Spec)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*autoscalingv2.HorizontalPodAutoscaler]{
		PrepareForUpdate: func(_ context.Context, h, old *autoscalingv2.HorizontalPodAutoscaler) { h.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, h, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			return validateStatus(&h.Status)
		},
		ResetFields: []string{"spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns:      columns,
	Row:          row,
})

var columns = []metav1.TableColumnDefinition{
	resource.NameColumn,
	resource.Column("Reference", "string", specDocs["scaleTargetRef"]),
	resource.Column("Targets", "string", specDocs["metrics"]),
	resource.Column("MinPods", "string", specDocs["minReplicas"]),
	resource.Column("MaxPods", "string", specDocs["maxReplicas"]),
	resource.Column("Replicas", "string", statusDocs["currentReplicas"]),
	resource.AgeColumn,
}

func row(h *autoscalingv2.HorizontalPodAutoscaler) []any {
	least := "<unset>"
	if n := h.Spec.MinReplicas; n != nil {
		least = fmt.Sprint(*n)
	}
	return []any{h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, targetsText(h.Spec.Metrics, h.Status.CurrentMetrics), least,
		int64(h.Spec.MaxReplicas), int64(h.Status.CurrentReplicas), resource.AgeOf(h)}
}

// defaultCPU is the utilization, in percent of what pods requested, that is aimed at when nothing is said.
const defaultCPU = 80

func defaultAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	h.Annotations = withoutRoundTrip(h.Annotations)
	if h.Spec.MinReplicas == nil {
		h.Spec.MinReplicas = ptr.To[int32](1)
	}
	if len(h.Spec.Metrics) == 0 {
		h.Spec.Metrics = []autoscalingv2.MetricSpec{cpu(defaultCPU)}
	}
	if b := h.Spec.Behavior; b != nil {
		const period = 15
		b.ScaleUp = fillRules(b.ScaleUp, autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](0), Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: period}, {Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: period},
		}})
		b.ScaleDown = fillRules(b.ScaleDown, autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: period},
		}})
	}
}

func cpu(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
	}}
}

// fillRules puts what is given over the defaults.
func fillRules(given *autoscalingv2.HPAScalingRules, rules autoscalingv2.HPAScalingRules) *autoscalingv2.HPAScalingRules {
	rules.SelectPolicy = ptr.To(autoscalingv2.MaxChangePolicySelect)
	if given == nil {
		return &rules
	}
	if given.SelectPolicy != nil {
		rules.SelectPolicy = given.SelectPolicy
	}
	if given.StabilizationWindowSeconds != nil {
		rules.StabilizationWindowSeconds = given.StabilizationWindowSeconds
	}
	if given.Policies != nil {
		rules.Policies = given.Policies
	}
	rules.Tolerance = given.Tolerance
	return &rules
}

const unknown = "<unknown>"

// targetsText shows each metric as what is, and what is aimed at; the first two of them.
func targetsText(specs []autoscalingv2.MetricSpec, now []autoscalingv2.MetricStatus) string {
	if len(specs) == 0 {
		return "<none>"
	}
	const most = 2
	var all []string
	for i, s := range specs {
		var status autoscalingv2.MetricStatus
		if i < len(now) {
			status = now[i]
		}
		all = append(all, targetText(&s, &status))
	}
	if len(all) > most {
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

func targetText(s *autoscalingv2.MetricSpec, now *autoscalingv2.MetricStatus) string {
	switch s.Type {
	case autoscalingv2.ExternalMetricSourceType:
		return valueText(&s.External.Target, now.External != nil, func() *autoscalingv2.MetricValueStatus { return &now.External.Current })
	case autoscalingv2.ObjectMetricSourceType:
		return valueText(&s.Object.Target, now.Object != nil, func() *autoscalingv2.MetricValueStatus { return &now.Object.Current })
	case autoscalingv2.PodsMetricSourceType:
		is := unknown
		if now.Pods != nil {
			is = now.Pods.Current.AverageValue.String()
		}
		return fmt.Sprintf("%s/%s", is, s.Pods.Target.AverageValue.String())
	case autoscalingv2.ResourceMetricSourceType:
		return utilizationText(s.Resource.Name, &s.Resource.Target, now.Resource != nil, func() *autoscalingv2.MetricValueStatus { return &now.Resource.Current })
	case autoscalingv2.ContainerResourceMetricSourceType:
		return utilizationText(s.ContainerResource.Name, &s.ContainerResource.Target, now.ContainerResource != nil, func() *autoscalingv2.MetricValueStatus { return &now.ContainerResource.Current })
	}
	return "<unknown type>"
}

func valueText(t *autoscalingv2.MetricTarget, known bool, now func() *autoscalingv2.MetricValueStatus) string {
	is := unknown
	if t.AverageValue != nil {
		if known && now().AverageValue != nil {
			is = now().AverageValue.String()
		}
		return fmt.Sprintf("%s/%s (avg)", is, t.AverageValue.String())
	}
	if known {
		is = quantityText(now().Value)
	}
	return fmt.Sprintf("%s/%s", is, quantityText(t.Value))
}

func quantityText(q *apiresource.Quantity) string {
	if q == nil {
		return "<nil>"
	}
	return q.String()
}

func utilizationText(name corev1.ResourceName, t *autoscalingv2.MetricTarget, known bool, now func() *autoscalingv2.MetricValueStatus) string {
	is, want := unknown, "<auto>"
	if t.AverageValue != nil {
		if known {
			is = quantityText(now().AverageValue)
		}
		return fmt.Sprintf("%s: %s/%s", name, is, t.AverageValue.String())
	}
	if known && now().AverageUtilization != nil {
		is = fmt.Sprintf("%d%%", *now().AverageUtilization)
	}
	if t.AverageUtilization != nil {
		want = fmt.Sprintf("%d%%", *t.AverageUtilization)
	}
	return fmt.Sprintf("%s: %s/%s", name, is, want)
}
