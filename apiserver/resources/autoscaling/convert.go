package autoscaling

import (
	"encoding/json"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// Annotations that hold, as JSON, what v1 has no fields for.
const (
	metricsKey       = "autoscaling.alpha.kubernetes.io/metrics"
	statusesKey      = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsKey    = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorKey      = "autoscaling.alpha.kubernetes.io/behavior"
	toleranceDownKey = "autoscaling.alpha.kubernetes.io/scale-down-tolerance"
	toleranceUpKey   = "autoscaling.alpha.kubernetes.io/scale-up-tolerance"
)

var roundTrip = []string{metricsKey, statusesKey, conditionsKey, behaviorKey, toleranceDownKey, toleranceUpKey}

// withoutRoundTrip gives the annotations that are the client's own.
func withoutRoundTrip(in map[string]string) map[string]string {
	for _, key := range roundTrip {
		if _, ok := in[key]; ok {
			out := maps.Clone(in)
			for _, key := range roundTrip {
				delete(out, key)
			}
			return out
		}
	}
	return in
}

// behavior and its parts are written under the names of their Go fields, as upstream does by mistake.
type behavior struct{ ScaleUp, ScaleDown *scalingRules }

type scalingRules struct {
	StabilizationWindowSeconds *int32
	SelectPolicy               *autoscalingv2.ScalingPolicySelect
	Policies                   []scalingPolicy
	Tolerance                  *apiresource.Quantity
}

type scalingPolicy struct {
	Type                 autoscalingv2.HPAScalingPolicyType
	Value, PeriodSeconds int32
}

func toRules(r *autoscalingv2.HPAScalingRules) *scalingRules {
	if r == nil {
		return nil
	}
	out := &scalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, scalingPolicy(p))
	}
	return out
}

func fromRules(r *scalingRules) *autoscalingv2.HPAScalingRules {
	if r == nil {
		return nil
	}
	out := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, autoscalingv2.HPAScalingPolicy(p))
	}
	return out
}

func isCPU(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

// fromV2 gives the older form; it shares nothing with the newer.
func fromV2(in *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv1.HorizontalPodAutoscaler {
	in = in.DeepCopy()
	out := &autoscalingv1.HorizontalPodAutoscaler{TypeMeta: in.TypeMeta, ObjectMeta: in.ObjectMeta}
	if out.APIVersion != "" {
		out.APIVersion = autoscalingv1.SchemeGroupVersion.String()
	}
	out.Annotations = withoutRoundTrip(out.Annotations)
	out.Spec = autoscalingv1.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef), MinReplicas: in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
	}
	var others []autoscalingv1.MetricSpec
	for i := range in.Spec.Metrics {
		m := &in.Spec.Metrics[i]
		switch {
		case !isCPU(m):
			others = append(others, fromMetric(m))
		case out.Spec.TargetCPUUtilizationPercentage == nil:
			out.Spec.TargetCPUUtilizationPercentage = ptr.To(*m.Resource.Target.AverageUtilization)
		}
	}
	fromStatus(&in.Status, &out.Status)
	annotate(out, metricsKey, others, len(others) > 0)
	var statuses []autoscalingv1.MetricStatus
	for i := range in.Status.CurrentMetrics {
		statuses = append(statuses, fromMetricStatus(&in.Status.CurrentMetrics[i]))
	}
	annotate(out, statusesKey, statuses, len(statuses) > 0)
	if b := in.Spec.Behavior; b != nil {
		annotate(out, behaviorKey, behavior{toRules(b.ScaleUp), toRules(b.ScaleDown)}, true)
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{Type: autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration})
	}
	annotate(out, conditionsKey, conditions, len(conditions) > 0)
	return out
}

func fromStatus(in *autoscalingv2.HorizontalPodAutoscalerStatus, out *autoscalingv1.HorizontalPodAutoscalerStatus) {
	out.ObservedGeneration, out.LastScaleTime = in.ObservedGeneration, in.LastScaleTime
	out.CurrentReplicas, out.DesiredReplicas = in.CurrentReplicas, in.DesiredReplicas
	for _, m := range in.CurrentMetrics {
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Current.AverageUtilization != nil {
			out.CurrentCPUUtilizationPercentage = ptr.To(*m.Resource.Current.AverageUtilization)
		}
	}
}

func annotate(h *autoscalingv1.HorizontalPodAutoscaler, key string, value any, when bool) {
	if !when {
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("marshal " + key + ": " + err.Error()) // plain data: there is nothing in it that can fail
	}
	if h.Annotations == nil {
		h.Annotations = map[string]string{}
	}
	h.Annotations[key] = string(text)
}

// annotated reads an annotation; one that cannot be read says nothing.
func annotated[T any](h *autoscalingv1.HorizontalPodAutoscaler, key string) (value T, ok bool) {
	text, ok := h.Annotations[key]
	if !ok || json.Unmarshal([]byte(text), &value) != nil {
		return value, false
	}
	return value, true
}

// toV2 gives the newer form; it shares nothing with the older.
func toV2(in *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	in = in.DeepCopy()
	out := &autoscalingv2.HorizontalPodAutoscaler{TypeMeta: in.TypeMeta, ObjectMeta: in.ObjectMeta}
	if out.APIVersion != "" {
		out.APIVersion = autoscalingv2.SchemeGroupVersion.String()
	}
	out.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef), MinReplicas: in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
	}
	if others, ok := annotated[[]autoscalingv1.MetricSpec](in, metricsKey); ok {
		for i := range others {
			out.Spec.Metrics = append(out.Spec.Metrics, toMetric(&others[i]))
		}
	}
	if n := in.Spec.TargetCPUUtilizationPercentage; n != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpu(*n))
	}
	if b, ok := annotated[behavior](in, behaviorKey); ok && b != (behavior{}) {
		out.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: fromRules(b.ScaleUp), ScaleDown: fromRules(b.ScaleDown)}
	}
	toStatus(in, &out.Status)
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpu(defaultCPU)}
	}
	out.Annotations = withoutRoundTrip(out.Annotations)
	return out
}

func toStatus(h *autoscalingv1.HorizontalPodAutoscaler, out *autoscalingv2.HorizontalPodAutoscalerStatus) {
	in := &h.Status
	out.ObservedGeneration, out.LastScaleTime = in.ObservedGeneration, in.LastScaleTime
	out.CurrentReplicas, out.DesiredReplicas = in.CurrentReplicas, in.DesiredReplicas
	if n := in.CurrentCPUUtilizationPercentage; n != nil {
		out.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{
			Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: n},
		}}}
	}
	if statuses, ok := annotated[[]autoscalingv1.MetricStatus](h, statusesKey); ok {
		out.CurrentMetrics = nil
		for i := range statuses {
			out.CurrentMetrics = append(out.CurrentMetrics, toMetricStatus(&statuses[i]))
		}
	}
	if conditions, ok := annotated[[]autoscalingv1.HorizontalPodAutoscalerCondition](h, conditionsKey); ok {
		for _, c := range conditions {
			out.Conditions = append(out.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
				LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration})
		}
	}
}
