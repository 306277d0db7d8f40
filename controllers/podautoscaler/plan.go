package podautoscaler

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Observed is everything that a decision about one autoscaler rests on.
type Observed struct {
	Autoscaler *autoscalingv2.HorizontalPodAutoscaler
	// Current is how many pods the target shall have now; Running, how many it has.
	Current, Running int32
	// Unusable says why the target's pods can't be told; they weren't looked for then.
	Unusable *Unusable
	// Pods are the target's.
	Pods []*corev1.Pod
	// Readings are those of the metrics, in the spec's order.
	Readings []Reading
	History  History
	Now      time.Time
}

// Unusable is what is wrong with a target's selector.
type Unusable struct{ Event, Reason, Condition, Err string }

// Plan is what to do about one autoscaler.
type Plan struct {
	// Rescale the target to Desired, because of Why.
	Rescale bool
	Desired int32
	Why     string
	Status  autoscalingv2.HorizontalPodAutoscalerStatus
	Reports []Report
	History History
}

// Report is an event of the autoscaler.
type Report struct{ Type, Reason, Message string }

func (p *Plan) warn(reason, message string) {
	p.Reports = append(p.Reports, Report{corev1.EventTypeWarning, reason, message})
}

func (o *Observed) least() int32 { return ptr.Deref(o.Autoscaler.Spec.MinReplicas, 1) }

func (o *Observed) tolerance() tolerance {
	t := tolerance{defaultTolerance, defaultTolerance}
	if behavior := o.Autoscaler.Spec.Behavior; behavior != nil {
		if behavior.ScaleDown != nil && behavior.ScaleDown.Tolerance != nil {
			t.down = behavior.ScaleDown.Tolerance.AsApproximateFloat64()
		}
		if behavior.ScaleUp != nil && behavior.ScaleUp.Tolerance != nil {
			t.up = behavior.ScaleUp.Tolerance.AsApproximateFloat64()
		}
	}
	return t
}

// measurable says that an autoscaler has metrics that go on when there are no pods.
func measurable(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	for i := range hpa.Spec.Metrics {
		if t := hpa.Spec.Metrics[i].Type; t == autoscalingv2.ObjectMetricSourceType || t == autoscalingv2.ExternalMetricSourceType {
			return true
		}
	}
	return false
}

// asleep says that the target has no pods because the autoscaler said so.
func asleep(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	for _, c := range hpa.Status.Conditions {
		if c.Type == autoscalingv2.ScaledToZero {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// NeedsMetrics says that metrics decide, given how many pods the target shall have now: not
// outside of the bounds, and not for a target that somebody else has put to sleep.
func NeedsMetrics(hpa *autoscalingv2.HorizontalPodAutoscaler, current int32) bool {
	least := ptr.Deref(hpa.Spec.MinReplicas, 1)
	if current == 0 {
		return asleep(hpa) && (least != 0 || measurable(hpa))
	}
	return current <= hpa.Spec.MaxReplicas && current >= least
}

// Decide works out one autoscaler whose target's scale could be read. It changes nothing that
// it is given.
func Decide(o Observed) Plan {
	hpa := o.Autoscaler
	plan := Plan{Status: *hpa.Status.DeepCopy(), History: o.History, Desired: o.Current}
	if plan.History.recommended == nil {
		plan.History.recommended = []timed{{o.Current, o.Now}}
	}
	plan.Status.CurrentReplicas = o.Current
	plan.Status.ObservedGeneration = ptr.To(hpa.Generation)
	plan.Status.CurrentMetrics = nil
	plan.condition(&o, autoscalingv2.AbleToScale, true, "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	switch {
	case NeedsMetrics(hpa, o.Current):
		if !plan.measure(&o) {
			return plan // the number stays as it was last wanted
		}
	case o.Current == 0:
		plan.Desired = 0
		plan.condition(&o, autoscalingv2.ScalingActive, false, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
	case o.Current > hpa.Spec.MaxReplicas:
		plan.Desired, plan.Why = hpa.Spec.MaxReplicas, "Current number of replicas above Spec.MaxReplicas"
	default:
		plan.Desired, plan.Why = o.least(), "Current number of replicas below Spec.MinReplicas"
	}
	plan.Rescale = plan.Desired != o.Current
	plan.Status.DesiredReplicas = plan.Desired
	return plan
}

// measure lets the metrics decide; false: none can be trusted.
func (p *Plan) measure(o *Observed) bool {
	replicas, metric, ok := p.ask(o)
	if !ok {
		return false
	}
	switch {
	case replicas > o.Current:
		p.Why = fmt.Sprintf("%s above target", metric)
	case replicas < o.Current:
		p.Why = "All metrics below target"
	}
	p.Desired = p.hold(o, replicas)
	if o.Current == 0 && o.least() != 0 && p.Desired < o.least() {
		p.Desired = o.least()
		if p.Why == "" {
			p.Why = "Current number of replicas below Spec.MinReplicas"
		}
	}
	return true
}

// ask takes the metric that wants most pods. One that can't be read doesn't matter as long
// as another wants more than there are.
func (p *Plan) ask(o *Observed) (replicas int32, metric string, ok bool) {
	fail := func(err error) (int32, string, bool) {
		p.warn("FailedComputeMetricsReplicas", err.Error())
		return 0, "", false
	}
	if u := o.Unusable; u != nil {
		if u.Event != "" {
			p.warn(u.Event, u.Err)
		}
		p.condition(o, autoscalingv2.ScalingActive, false, u.Reason, "%s", u.Condition)
		return fail(fmt.Errorf("%s", u.Err))
	}
	metrics := o.Autoscaler.Spec.Metrics
	p.Status.CurrentMetrics = make([]autoscalingv2.MetricStatus, len(metrics))
	var first *failure
	failures := 0
	for i := range metrics {
		proposed, failed := propose(o, &metrics[i], o.Readings[i])
		if failed != nil {
			p.warn(failed.reason, failed.detail.Error())
			if failures++; first == nil {
				first = failed
			}
			continue
		}
		p.Status.CurrentMetrics[i] = proposed.status
		if replicas == 0 || proposed.replicas > replicas {
			replicas, metric = proposed.replicas, proposed.metric
		}
	}
	if failures >= len(metrics) && first != nil || failures > 0 && replicas < o.Current {
		p.condition(o, autoscalingv2.ScalingActive, false, first.reason, "the HPA was unable to compute the replica count: %v", first.detail)
		return fail(fmt.Errorf("invalid metrics (%v invalid out of %v), first error is: %w", failures, len(metrics), first.err))
	}
	p.condition(o, autoscalingv2.ScalingActive, true, "ValidMetricFound", "the HPA was able to successfully calculate a replica count from %s", metric)
	return replicas, metric, true
}

// hold keeps a number from changing too soon, too fast or too far.
func (p *Plan) hold(o *Observed, desired int32) int32 {
	b := bounds{o.least(), o.Autoscaler.Spec.MaxReplicas}
	behavior := o.Autoscaler.Spec.Behavior
	var stable, count int32
	var reason, message string
	if behavior == nil {
		stable = stabilize(p.History, desired, o.Now)
		reason, message = "ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest recent recommendation"
	} else {
		stable, reason, message = stabilizeBy(behavior, p.History, o.Current, desired, o.Now)
	}
	if stable == desired {
		reason, message = "ReadyForNewScale", "recommended size matches current size"
	}
	p.condition(o, autoscalingv2.AbleToScale, true, reason, "%s", message)
	if behavior == nil {
		count, reason, message = limit(o.Current, stable, b)
		p.History = p.History.recommend(desired, downscaleWindow, o.Now)
	} else {
		count, reason, message = limitBy(behavior, p.History, o.Current, stable, b, o.Now)
		longest := max(window(behavior.ScaleUp, 0), window(behavior.ScaleDown, downscaleWindow))
		p.History = p.History.recommend(desired, longest, o.Now)
	}
	p.condition(o, autoscalingv2.ScalingLimited, count != stable, reason, "%s", message)
	return count
}
