package deployment

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// bounds resolves maxSurge and maxUnavailable, which may be percentages, for a
// Deployment's present size. Surge is rounded up and unavailability down; should both
// come out as zero nothing could ever move, so one replica may be unavailable:
// 1 % of 2 replicas with no surge goes old -1, new +1, old -1, new +1.
func bounds(d *appsv1.Deployment) (surge, unavailable int32) {
	rolling := d.Spec.Strategy.RollingUpdate
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || rolling == nil {
		return 0, 0
	}
	desired := *d.Spec.Replicas
	surge = scaled(rolling.MaxSurge, desired, true)
	unavailable = scaled(rolling.MaxUnavailable, desired, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, desired)
}

// scaled resolves one bound. Validation has refused what doesn't parse, so the error
// can only mean that the value came past the API server; it then allows nothing.
func scaled(value *intstr.IntOrString, of int32, roundUp bool) int32 {
	resolved, err := intstr.GetScaledValueFromIntOrPercent(
		intstr.ValueOrDefault(value, intstr.FromInt32(0)), int(of), roundUp)
	if err != nil {
		return 0
	}
	return int32(resolved)
}

func maxSurge(d *appsv1.Deployment) int32 {
	surge, _ := bounds(d)
	return surge
}

func maxUnavailable(d *appsv1.Deployment) int32 {
	_, unavailable := bounds(d)
	return unavailable
}

// hasDeadline says whether lack of progress is to be reported; the largest number
// stands for "never".
func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

// historyLimit is how many old revisions are kept; ok is false when all are.
func historyLimit(d *appsv1.Deployment) (limit int, ok bool) {
	if d.Spec.RevisionHistoryLimit == nil || *d.Spec.RevisionHistoryLimit == math.MaxInt32 {
		return 0, false
	}
	return int(*d.Spec.RevisionHistoryLimit), true
}
