package podautoscaler

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (p *Plan) condition(o *Observed, kind autoscalingv2.HorizontalPodAutoscalerConditionType, holds bool, reason, format string, values ...any) {
	setCondition(&p.Status, kind, holds, reason, fmt.Sprintf(format, values...), o.Now)
}

// setCondition adds a condition or brings it up to date; its time is that of the last change
// of its truth.
func setCondition(status *autoscalingv2.HorizontalPodAutoscalerStatus, kind autoscalingv2.HorizontalPodAutoscalerConditionType, holds bool, reason, message string, now time.Time) {
	next := autoscalingv2.HorizontalPodAutoscalerCondition{
		Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now),
	}
	if holds {
		next.Status = corev1.ConditionTrue
	}
	for i := range status.Conditions {
		present := &status.Conditions[i]
		if present.Type != kind {
			continue
		}
		if present.Status == next.Status {
			next.LastTransitionTime = present.LastTransitionTime
		}
		*present = next
		return
	}
	status.Conditions = append(status.Conditions, next)
}

// Unscalable is the status of an autoscaler whose target's scale can't be read.
func Unscalable(hpa *autoscalingv2.HorizontalPodAutoscaler, why error, now time.Time) autoscalingv2.HorizontalPodAutoscalerStatus {
	status := *hpa.Status.DeepCopy()
	setCondition(&status, autoscalingv2.AbleToScale, false, "FailedGetScale", fmt.Sprintf("the HPA controller was unable to get the target's current scale: %v", why), now)
	return status
}

// Rescaled notes in a plan what became of the rescaling.
func (p *Plan) Rescaled(o Observed, failed error) {
	if failed != nil {
		p.warn("FailedRescale", fmt.Sprintf("New size: %d; reason: %s; error: %v", p.Desired, p.Why, failed))
		p.condition(&o, autoscalingv2.AbleToScale, false, "FailedUpdateScale", "the HPA controller was unable to update the target scale: %v", failed)
		p.Status.DesiredReplicas = o.Autoscaler.Status.DesiredReplicas
		return
	}
	p.condition(&o, autoscalingv2.AbleToScale, true, "SucceededRescale", "the HPA controller was able to update the target scale to %d", p.Desired)
	p.Reports = append(p.Reports, Report{corev1.EventTypeNormal, "SuccessfulRescale", fmt.Sprintf("New size: %d; reason: %s", p.Desired, p.Why)})
	p.Status.LastScaleTime = &metav1.Time{Time: o.Now}
	if o.Autoscaler.Spec.Behavior != nil {
		p.History = p.History.scaled(o.Current, p.Desired, o.Now)
	}
	if o.Current > 0 && p.Desired == 0 && o.least() == 0 && measurable(o.Autoscaler) {
		p.condition(&o, autoscalingv2.ScaledToZero, true, "ScaledToZero", "the HPA controller scaled the workload to zero")
	} else {
		p.condition(&o, autoscalingv2.ScaledToZero, false, "NotScaledToZero", "the HPA controller did not scale the workload to zero")
	}
}
