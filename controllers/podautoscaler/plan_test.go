package podautoscaler

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testHPA keeps 1 to 10 pods at half of the CPU that they request.
func testHPA(changes ...func(*autoscalingv2.HorizontalPodAutoscaler)) *autoscalingv2.HorizontalPodAutoscaler {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h", Namespace: "ns"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 10, Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{AverageUtilization: ptr.To[int32](50)}}}}}}
	for _, change := range changes {
		change(hpa)
	}
	return hpa
}

// testPods are ready ones that request 1 CPU each.
func testPods(n int) (pods []*corev1.Pod) {
	for i := range n {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: testTime.Add(-time.Hour)},
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testTime.Add(-time.Hour))}}}})
	}
	return pods
}

// using are samples of the pods' CPU usage in thousandths, one for each.
func using(values ...int64) Reading {
	samples := Samples{}
	for i, value := range values {
		samples[fmt.Sprint("p", i)] = Sample{Value: value, At: testTime, Window: time.Minute}
	}
	return Reading{Samples: samples}
}

func rules(up, down *autoscalingv2.HPAScalingRules) func(*autoscalingv2.HorizontalPodAutoscaler) {
	return func(hpa *autoscalingv2.HorizontalPodAutoscaler) {
		hpa.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: up, ScaleDown: down}
	}
}

func policy(kind autoscalingv2.HPAScalingPolicyType, value int32) *autoscalingv2.HPAScalingRules {
	return &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](0), Policies: []autoscalingv2.HPAScalingPolicy{{Type: kind, Value: value, PeriodSeconds: 60}}}
}

func conditions(status autoscalingv2.HorizontalPodAutoscalerStatus) string {
	var all []string
	for _, c := range status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return strings.Join(all, ", ")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	long := History{recommended: []timed{{1, testTime.Add(-time.Hour)}}}
	starting := func(n int, which int) []*corev1.Pod {
		pods := testPods(n)
		pods[which].Status.Phase = corev1.PodPending
		return pods
	}
	for name, c := range map[string]struct {
		hpa        *autoscalingv2.HorizontalPodAutoscaler
		current    int32
		pods       []*corev1.Pod
		reading    Reading
		history    History
		desired    int32
		conditions string
	}{
		"as it should be":    {testHPA(), 2, testPods(2), using(500, 500), long, 2, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"within tolerance":   {testHPA(), 2, testPods(2), using(540, 540), long, 2, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"too few":            {testHPA(), 2, testPods(2), using(900, 900), long, 4, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"far too few":        {testHPA(), 2, testPods(2), using(4000, 4000), long, 4, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=True ScaleUpLimit"},
		"more than allowed":  {testHPA(), 8, testPods(8), using(900, 900, 900, 900, 900, 900, 900, 900), long, 10, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=True TooManyReplicas"},
		"too many":           {testHPA(), 4, testPods(4), using(100, 100, 100, 100), long, 1, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"too many, too soon": {testHPA(), 4, testPods(4), using(100, 100, 100, 100), History{recommended: []timed{{4, testTime.Add(-time.Minute)}}}, 4, "AbleToScale=True ScaleDownStabilized, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"one isn't measured": {testHPA(), 2, testPods(2), using(700), long, 2, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"one is starting":    {testHPA(), 3, starting(3, 2), using(900, 900), long, 4, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=False DesiredWithinRange"},
		"nothing is measured": {testHPA(), 2, testPods(2), Reading{Err: errors.New("nobody serves that")}, long, 2,
			"AbleToScale=True SucceededGetScale, ScalingActive=False FailedGetResourceMetric"},
		"asleep":     {testHPA(), 0, nil, Reading{}, long, 0, "AbleToScale=True SucceededGetScale, ScalingActive=False ScalingDisabled"},
		"above":      {testHPA(), 12, nil, Reading{}, long, 10, "AbleToScale=True SucceededGetScale"},
		"below":      {testHPA(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.MinReplicas = ptr.To[int32](3) }), 1, nil, Reading{}, long, 3, "AbleToScale=True SucceededGetScale"},
		"up by pods": {testHPA(rules(policy(autoscalingv2.PodsScalingPolicy, 1), nil)), 2, testPods(2), using(900, 900), long, 3, "AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=True ScaleUpLimit"},
		"down by half": {testHPA(rules(nil, policy(autoscalingv2.PercentScalingPolicy, 50))), 4, testPods(4), using(100, 100, 100, 100), long, 2,
			"AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=True ScaleDownLimit"},
		"down by half, once a minute": {testHPA(rules(nil, policy(autoscalingv2.PercentScalingPolicy, 50))), 4, testPods(4), using(100, 100, 100, 100),
			History{recommended: long.recommended, downs: []timed{{4, testTime.Add(-30 * time.Second)}}}, 4,
			"AbleToScale=True ReadyForNewScale, ScalingActive=True ValidMetricFound, ScalingLimited=True ScaleDownLimit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(Observed{Autoscaler: c.hpa, Current: c.current, Running: c.current, Pods: c.pods, Readings: []Reading{c.reading}, History: c.history, Now: testTime})
			if plan.Desired != c.desired || plan.Rescale != (c.desired != c.current) {
				t.Errorf("desired %d, rescale %v, why %q", plan.Desired, plan.Rescale, plan.Why)
			}
			if got := conditions(plan.Status); got != c.conditions {
				t.Errorf("conditions %s", got)
			}
		})
	}
}

func TestWhatIsSaidOfAMissingMetric(t *testing.T) {
	t.Parallel()
	plan := Decide(Observed{Autoscaler: testHPA(), Current: 1, Pods: testPods(1), Now: testTime,
		Readings: []Reading{{Err: errors.New("unable to fetch metrics from resource metrics API: gone")}}})
	detail := "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: gone"
	want := []Report{
		{corev1.EventTypeWarning, "FailedGetResourceMetric", detail},
		{corev1.EventTypeWarning, "FailedComputeMetricsReplicas", "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: " + detail},
	}
	if fmt.Sprint(plan.Reports) != fmt.Sprint(want) {
		t.Errorf("reports %v", plan.Reports)
	}
	if c := plan.Status.Conditions[1]; c.Message != "the HPA was unable to compute the replica count: "+detail {
		t.Errorf("condition %+v", c)
	}
}

func TestRescaled(t *testing.T) {
	t.Parallel()
	o := Observed{Autoscaler: testHPA(), Current: 12, Now: testTime}
	plan := Decide(o)
	plan.Rescaled(o, nil)
	if got := fmt.Sprint(plan.Reports); got != "[{Normal SuccessfulRescale New size: 10; reason: Current number of replicas above Spec.MaxReplicas}]" {
		t.Errorf("reports %s", got)
	}
	if got := conditions(plan.Status); got != "AbleToScale=True SucceededRescale, ScaledToZero=False NotScaledToZero" || plan.Status.LastScaleTime == nil {
		t.Errorf("conditions %s", got)
	}
	plan = Decide(o)
	plan.Rescaled(o, errors.New("refused"))
	if got := conditions(plan.Status); got != "AbleToScale=False FailedUpdateScale" || plan.Status.DesiredReplicas != 0 {
		t.Errorf("conditions %s", got)
	}
}

func TestExternal(t *testing.T) {
	t.Parallel()
	metric := func(target autoscalingv2.MetricTarget) *autoscalingv2.HorizontalPodAutoscaler {
		return testHPA(func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType,
				External: &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "queue"}, Target: target}}}
		})
	}
	for name, hpa := range map[string]*autoscalingv2.HorizontalPodAutoscaler{
		"value":   metric(autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: ptr.To(resource.MustParse("20"))}),
		"average": metric(autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: ptr.To(resource.MustParse("10"))}),
	} {
		plan := Decide(Observed{Autoscaler: hpa, Current: 2, Running: 2, Pods: testPods(2), Readings: []Reading{{Values: []int64{10000, 30000}}}, Now: testTime})
		if plan.Desired != 4 {
			t.Errorf("%s: desired %d, %v", name, plan.Desired, plan.Reports)
		}
	}
}
