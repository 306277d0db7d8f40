package autoscaling

import (
	"reflect"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

func texts(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Field+": "+string(e.Type))
	}
	return strings.Join(out, "\n")
}

func autoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	h.Annotations = map[string]string{"own": "kept"}
	h.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MinReplicas: ptr.To[int32](2), MaxReplicas: 5,
		Metrics: []autoscalingv2.MetricSpec{
			{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "requests"},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: ptr.To(apiresource.MustParse("100"))}}},
			cpu(60),
		},
		Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](30)}},
	}
	h.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue, Reason: "R"}}
	defaultAutoscaler(h)
	return h
}

func TestTheOlderVersionLosesNothing(t *testing.T) {
	t.Parallel()
	h := autoscaler()
	older := fromV2(h)
	if *older.Spec.TargetCPUUtilizationPercentage != 60 || older.Annotations["own"] != "kept" || !strings.Contains(older.Annotations[behaviorKey], `"StabilizationWindowSeconds":30`) {
		t.Errorf("older form: %+v %v", older.Spec, older.Annotations)
	}
	if back := toV2(older); !reflect.DeepEqual(back.Spec, h.Spec) || !reflect.DeepEqual(back.Status, h.Status) || !reflect.DeepEqual(back.Annotations, h.Annotations) {
		t.Errorf("back:\n%+v\nwant\n%+v", back, h)
	}
}

func TestTheOlderVersionAimsAtSomeUtilization(t *testing.T) {
	t.Parallel()
	h := &autoscalingv1.HorizontalPodAutoscaler{}
	h.Annotations = map[string]string{metricsKey: "not JSON"}
	if got := toV2(h); len(got.Spec.Metrics) != 1 || *got.Spec.Metrics[0].Resource.Target.AverageUtilization != defaultCPU || len(got.Annotations) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAutoscalers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*autoscalingv2.HorizontalPodAutoscalerSpec)
		want   string
	}{
		"fine":            {func(*autoscalingv2.HorizontalPodAutoscalerSpec) {}, ""},
		"no most":         {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) { s.MinReplicas, s.MaxReplicas = nil, 0 }, "spec.maxReplicas: FieldValueRequired"},
		"least over most": {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) { s.MaxReplicas = 1 }, "spec.maxReplicas: FieldValueInvalid"},
		"down to nothing by CPU": {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) {
			s.MinReplicas, s.Metrics = ptr.To[int32](0), []autoscalingv2.MetricSpec{cpu(50)}
		}, "spec.metrics: FieldValueForbidden"},
		"target in no group": {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) { s.ScaleTargetRef.APIVersion = "v1" }, "spec.scaleTargetRef.apiVersion: FieldValueInvalid"},
		"a controller has no group": {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) {
			s.ScaleTargetRef.APIVersion, s.ScaleTargetRef.Kind = "v1", "ReplicationController"
		}, ""},
		"metric of another type": {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) {
			s.Metrics[0].Type = autoscalingv2.ResourceMetricSourceType
		}, "spec.metrics[0].resource: FieldValueRequired"},
		"too long a window": {func(s *autoscalingv2.HorizontalPodAutoscalerSpec) {
			s.Behavior.ScaleUp.StabilizationWindowSeconds = ptr.To[int32](maxStabilization + 1)
		}, "spec.behavior.scaleUp.stabilizationWindowSeconds: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := autoscaler()
			c.change(&h.Spec)
			if got := texts(validate(&h.Spec, nil)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
