package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// judgement is what a pod failure policy says of one failed pod.
type judgement struct {
	// action is empty when no rule matches; the failure counts then.
	action batchv1.PodFailurePolicyAction
	// message says why the whole Job fails; empty unless the action is FailJob.
	message string
}

// counts says whether the failure counts towards the limits.
func (j judgement) counts() bool { return j.action != batchv1.PodFailurePolicyActionIgnore }

// judge finds the first rule that matches the pod.
func judge(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) judgement {
	if policy == nil {
		return judgement{}
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		var why string
		switch {
		case rule.OnExitCodes != nil:
			container := exited(pod, rule.OnExitCodes)
			if container == nil {
				continue
			}
			why = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v matching %v rule at index %d",
				container.Name, pod.Namespace, pod.Name, container.State.Terminated.ExitCode, rule.Action, i)
		case rule.OnPodConditions != nil:
			condition := conditioned(pod, rule.OnPodConditions)
			if condition == nil {
				continue
			}
			why = fmt.Sprintf("Pod %s/%s has condition %v matching %v rule at index %d",
				pod.Namespace, pod.Name, condition.Type, rule.Action, i)
		default:
			continue
		}
		switch rule.Action {
		case batchv1.PodFailurePolicyActionFailJob:
			return judgement{rule.Action, why}
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionCount:
			return judgement{action: rule.Action}
		}
	}
	return judgement{}
}

// exited gives the first container whose exit code meets the requirement; success never does.
func exited(pod *corev1.Pod, wanted *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			end := statuses[i].State.Terminated
			if end == nil || end.ExitCode == 0 || wanted.ContainerName != nil && *wanted.ContainerName != statuses[i].Name {
				continue
			}
			listed := slices.Contains(wanted.Values, end.ExitCode)
			if wanted.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && listed ||
				wanted.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && !listed {
				return &statuses[i]
			}
		}
	}
	return nil
}

// conditioned gives the first of the pod's conditions that one of the patterns matches.
func conditioned(pod *corev1.Pod, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		for _, pattern := range patterns {
			if condition.Type == pattern.Type && condition.Status == pattern.Status {
				return condition
			}
		}
	}
	return nil
}
