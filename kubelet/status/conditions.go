package status

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// Reasons of conditions, as upstream words them.
const (
	reasonUnknownStatuses = "UnknownContainerStatuses"
	reasonPodCompleted    = "PodCompleted"
	reasonPodFailed       = "PodFailed"
	reasonNotReady        = "ContainersNotReady"
	reasonNotInitialized  = "ContainersNotInitialized"
	reasonGatesNotReady   = "ReadinessGatesNotReady"
	reasonSandboxNotReady = "PodSandboxNotReady"
)

// OwnedConditions are the types that only the kubelet writes.
var OwnedConditions = map[v1.PodConditionType]bool{
	v1.PodReadyToStartContainers: true,
	v1.PodInitialized:            true,
	v1.PodReady:                  true,
	v1.ContainersReady:           true,
	v1.PodScheduled:              true,
	v1.PodResizePending:          true,
	v1.PodResizeInProgress:       true,
	v1.AllContainersRestarting:   true,
}

// conditions keeps the conditions of others and appends the kubelet's own.
func conditions(in Input, s *v1.PodStatus) []v1.PodCondition {
	var list []v1.PodCondition
	for _, condition := range in.Pod.Status.Conditions {
		if !OwnedConditions[condition.Type] {
			list = append(list, condition)
		}
	}
	if in.Verdict != nil && in.Verdict.Condition != nil && IsTerminal(s.Phase) {
		list = append(without(list, in.Verdict.Condition.Type), *in.Verdict.Condition)
	}
	containersReady := containersReadyCondition(in.Pod, s)
	own := []v1.PodCondition{
		sandboxCondition(in),
		initializedCondition(in.Pod, s),
		readyCondition(in.Pod, containersReady, list),
		containersReady,
		{Type: v1.PodScheduled, Status: v1.ConditionTrue},
	}
	for i := range own {
		own[i].ObservedGeneration = in.Pod.Generation
		own[i].LastTransitionTime = transitionTime(in, &own[i])
	}
	return append(list, own...)
}

func without(list []v1.PodCondition, kind v1.PodConditionType) []v1.PodCondition {
	var rest []v1.PodCondition
	for _, condition := range list {
		if condition.Type != kind {
			rest = append(rest, condition)
		}
	}
	return rest
}

// transitionTime moves only when the status does.
func transitionTime(in Input, condition *v1.PodCondition) metav1.Time {
	for _, old := range in.Old.Conditions {
		if old.Type == condition.Type && old.Status == condition.Status {
			return old.LastTransitionTime
		}
	}
	return metav1.NewTime(in.Now)
}

func sandboxCondition(in Input) v1.PodCondition {
	change := plan.NeedsSandbox(in.Pod, in.Observed)
	if !change.Needed {
		return v1.PodCondition{Type: v1.PodReadyToStartContainers, Status: v1.ConditionTrue}
	}
	return v1.PodCondition{
		Type: v1.PodReadyToStartContainers, Status: v1.ConditionFalse,
		Reason: reasonSandboxNotReady, Message: change.Reason,
	}
}

func initializedCondition(pod *v1.Pod, s *v1.PodStatus) v1.PodCondition {
	condition := v1.PodCondition{Type: v1.PodInitialized, Status: v1.ConditionTrue}
	var unknown, incomplete []string
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		status := find(s.InitContainerStatuses, container.Name)
		switch {
		case status == nil:
			unknown = append(unknown, container.Name)
		case podspec.IsSidecar(container) && (status.Started == nil || !*status.Started),
			!podspec.IsSidecar(container) && !status.Ready:
			incomplete = append(incomplete, container.Name)
		}
	}
	if s.Phase == v1.PodSucceeded && len(unknown) == 0 {
		condition.Reason = reasonPodCompleted
		return condition
	}
	if anyStarted(pod, s) {
		return condition // once initialized, always initialized
	}
	if message := describe(unknown, incomplete, "incomplete"); message != "" {
		condition.Status, condition.Reason, condition.Message = v1.ConditionFalse, reasonNotInitialized, message
	}
	return condition
}

// anyStarted tells whether a main container shows signs of having run.
func anyStarted(pod *v1.Pod, s *v1.PodStatus) bool {
	if len(pod.Spec.InitContainers) == 0 {
		return false
	}
	for i := range s.ContainerStatuses {
		status := &s.ContainerStatuses[i]
		if (status.Started != nil && *status.Started) || status.State.Running != nil || status.State.Terminated != nil {
			return true
		}
	}
	return false
}

func containersReadyCondition(pod *v1.Pod, s *v1.PodStatus) v1.PodCondition {
	condition := v1.PodCondition{Type: v1.ContainersReady, Status: v1.ConditionFalse}
	if len(s.ContainerStatuses) == 0 {
		condition.Reason = reasonUnknownStatuses
		return condition
	}
	var unknown, unready []string
	note := func(name string, status *v1.ContainerStatus) {
		if status == nil {
			unknown = append(unknown, name)
		} else if !status.Ready {
			unready = append(unready, name)
		}
	}
	for i := range pod.Spec.InitContainers {
		if podspec.IsSidecar(&pod.Spec.InitContainers[i]) {
			note(pod.Spec.InitContainers[i].Name, find(s.InitContainerStatuses, pod.Spec.InitContainers[i].Name))
		}
	}
	for i := range pod.Spec.Containers {
		note(pod.Spec.Containers[i].Name, find(s.ContainerStatuses, pod.Spec.Containers[i].Name))
	}
	switch {
	case s.Phase == v1.PodSucceeded && len(unknown) == 0:
		condition.Reason = reasonPodCompleted
	case s.Phase == v1.PodFailed:
		condition.Reason = reasonPodFailed
	default:
		condition.Message = describe(unknown, unready, "unready")
		if condition.Message == "" {
			condition.Status = v1.ConditionTrue
		} else {
			condition.Reason = reasonNotReady
		}
	}
	return condition
}

// readyCondition is ContainersReady and all readiness gates.
func readyCondition(pod *v1.Pod, containersReady v1.PodCondition, others []v1.PodCondition) v1.PodCondition {
	condition := containersReady
	condition.Type = v1.PodReady
	if condition.Status != v1.ConditionTrue {
		return condition
	}
	var messages []string
	for _, gate := range pod.Spec.ReadinessGates {
		status, found := v1.ConditionUnknown, false
		for _, other := range others {
			if other.Type == gate.ConditionType {
				status, found = other.Status, true
			}
		}
		if !found {
			messages = append(messages, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", string(gate.ConditionType)))
		} else if status != v1.ConditionTrue {
			messages = append(messages, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", string(gate.ConditionType), status))
		}
	}
	if len(messages) > 0 {
		condition.Status, condition.Reason, condition.Message = v1.ConditionFalse, reasonGatesNotReady, strings.Join(messages, ", ")
	}
	return condition
}

func describe(unknown, rest []string, what string) string {
	var messages []string
	if len(unknown) > 0 {
		messages = append(messages, fmt.Sprintf("containers with unknown status: %s", unknown))
	}
	if len(rest) > 0 {
		messages = append(messages, fmt.Sprintf("containers with %s status: %s", what, rest))
	}
	return strings.Join(messages, ", ")
}
