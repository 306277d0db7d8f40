package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// evictionTimeout is how long a pod whose eviction was granted may take until its deletion
// is seen. Upstream's bound.
const evictionTimeout = 2 * time.Minute

// Scale is how many pods a workload wants.
type Scale struct {
	Workload types.UID
	Replicas int32
}

// Observed is everything that a decision about one budget rests on.
type Observed struct {
	Budget *policyv1.PodDisruptionBudget
	// Pods are those that the budget selects.
	Pods []*corev1.Pod
	// Scales has the scale of the workload behind each pod's controller, by its uid: of
	// the Deployment, where a ReplicaSet belongs to one.
	Scales map[types.UID]Scale
	Now    time.Time
}

// Plan is what the budget shall show.
type Plan struct {
	Status  policyv1.PodDisruptionBudgetStatus
	Reports []Report
	// NotDeleted are pods whose eviction was granted, and that are still there.
	NotDeleted []*corev1.Pod
	// CheckAfter is when a granted eviction counts as given up; zero: there is none.
	CheckAfter time.Duration
}

// Report is an event of the budget.
type Report struct{ Type, Reason, Message string }

// Decide works out one budget. It changes nothing that it is given. An error means that
// nobody can tell; Unknown is the status then.
func Decide(observed Observed) (Plan, error) {
	var plan Plan
	budget := observed.Budget
	if len(observed.Pods) == 0 {
		plan.Reports = append(plan.Reports, Report{corev1.EventTypeNormal, "NoPods", "No matching pods found"})
	}
	expected, desired, unmanaged, err := bounds(observed)
	if err != nil {
		plan.Reports = append(plan.Reports, Report{corev1.EventTypeWarning, "CalculateExpectedPodCountFailed",
			fmt.Sprintf("Failed to calculate the number of expected pods: %v", err)})
		return plan, err
	}
	if unmanaged {
		plan.Reports = append(plan.Reports, Report{corev1.EventTypeWarning, "UnmanagedPods", fmt.Sprintf(
			"Pods selected by this PodDisruptionBudget (selector: %v) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, "+
				"which may result in undefined behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.", budget.Spec.Selector)})
	}
	granted := plan.granted(observed)
	healthy := int32(0)
	for _, pod := range observed.Pods {
		if _, leaving := granted[pod.Name]; !leaving && pod.DeletionTimestamp == nil && podstate.Ready(pod) {
			healthy++
		}
	}
	plan.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: budget.Generation, ExpectedPods: expected, DesiredHealthy: desired,
		CurrentHealthy: healthy, DisruptedPods: granted, Conditions: budget.DeepCopy().Status.Conditions,
	}
	// A budget that matches nothing yet allows nothing: its first pods may come any moment.
	if expected > 0 {
		plan.Status.DisruptionsAllowed = max(0, healthy-desired)
	}
	condition := metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason}
	if plan.Status.DisruptionsAllowed > 0 {
		condition.Status, condition.Reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	setCondition(&plan.Status, condition, observed.Now)
	return plan, nil
}

// Unknown is the status of a budget that can't be worked out: nothing may be evicted.
func Unknown(budget *policyv1.PodDisruptionBudget, why error, now time.Time) policyv1.PodDisruptionBudgetStatus {
	status := *budget.Status.DeepCopy()
	status.DisruptionsAllowed = 0
	setCondition(&status, metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
		Reason: policyv1.SyncFailedReason, Message: why.Error()}, now)
	return status
}

func setCondition(status *policyv1.PodDisruptionBudgetStatus, condition metav1.Condition, now time.Time) {
	condition.ObservedGeneration = status.ObservedGeneration
	condition.LastTransitionTime = metav1.NewTime(now)
	meta.SetStatusCondition(&status.Conditions, condition)
}

// bounds are how many pods there should be and how many of them must be healthy. A number
// of pods that must be available is taken as it is; whatever is a share, or what may be
// missing, is of what the workloads behind the pods want. Percentages are rounded up.
func bounds(observed Observed) (expected, desired int32, unmanaged bool, err error) {
	spec := observed.Budget.Spec
	switch {
	case spec.MaxUnavailable != nil:
		if expected, unmanaged, err = wanted(observed); err != nil {
			return 0, 0, false, err
		}
		most, err := intstr.GetScaledValueFromIntOrPercent(spec.MaxUnavailable, int(expected), true)
		if err != nil {
			return 0, 0, false, fmt.Errorf("maxUnavailable: %w", err)
		}
		return expected, max(0, expected-int32(most)), unmanaged, nil
	case spec.MinAvailable != nil && spec.MinAvailable.Type == intstr.Int:
		return int32(len(observed.Pods)), spec.MinAvailable.IntVal, false, nil
	case spec.MinAvailable != nil:
		if expected, unmanaged, err = wanted(observed); err != nil {
			return 0, 0, false, err
		}
		least, err := intstr.GetScaledValueFromIntOrPercent(spec.MinAvailable, int(expected), true)
		if err != nil {
			return 0, 0, false, fmt.Errorf("minAvailable: %w", err)
		}
		return expected, int32(least), unmanaged, nil
	}
	return 0, 0, false, nil
}

// wanted adds up the scales of the workloads behind the pods, each once.
func wanted(observed Observed) (sum int32, unmanaged bool, err error) {
	counted := map[types.UID]bool{}
	for _, pod := range observed.Pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		if controller == nil {
			unmanaged = true
			continue
		}
		scale, known := observed.Scales[controller.UID]
		if !known {
			return 0, false, fmt.Errorf("found no controllers for pod %q", pod.Name)
		}
		if !counted[scale.Workload] {
			counted[scale.Workload] = true
			sum += scale.Replicas
		}
	}
	return sum, unmanaged, nil
}

// granted are the evictions that have been granted and not been seen yet.
func (p *Plan) granted(observed Observed) map[string]metav1.Time {
	still := map[string]metav1.Time{}
	for _, pod := range observed.Pods {
		at, found := observed.Budget.Status.DisruptedPods[pod.Name]
		if !found || pod.DeletionTimestamp != nil {
			continue
		}
		left := at.Add(evictionTimeout).Sub(observed.Now)
		if left < 0 {
			p.NotDeleted = append(p.NotDeleted, pod)
			continue
		}
		still[pod.Name] = at
		if p.CheckAfter == 0 || left < p.CheckAfter {
			p.CheckAfter = max(left, time.Millisecond)
		}
	}
	return still
}
