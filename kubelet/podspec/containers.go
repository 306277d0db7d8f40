package podspec

import (
	"fmt"
	"iter"

	v1 "k8s.io/api/core/v1"
)

// Kind is the list of the specification that a container stands in.
type Kind int

// The three lists of containers.
const (
	Init Kind = iota
	Main
	Ephemeral
)

// All yields every container of the pod: init, main and ephemeral ones, each in the order of the specification.
func All(pod *v1.Pod) iter.Seq2[*v1.Container, Kind] {
	return func(yield func(*v1.Container, Kind) bool) {
		for i := range pod.Spec.InitContainers {
			if !yield(&pod.Spec.InitContainers[i], Init) {
				return
			}
		}
		for i := range pod.Spec.Containers {
			if !yield(&pod.Spec.Containers[i], Main) {
				return
			}
		}
		for i := range pod.Spec.EphemeralContainers {
			if !yield(FromEphemeral(&pod.Spec.EphemeralContainers[i]), Ephemeral) {
				return
			}
		}
	}
}

// FromEphemeral views an ephemeral container as a container. The two types have the same fields by upstream's
// promise, checked by the compiler in this conversion.
func FromEphemeral(container *v1.EphemeralContainer) *v1.Container {
	return (*v1.Container)(&container.EphemeralContainerCommon)
}

// Container finds a container of any kind by name; nil when the pod has none of that name.
func Container(pod *v1.Pod, name string) (*v1.Container, Kind) {
	for container, kind := range All(pod) {
		if container.Name == name {
			return container, kind
		}
	}
	return nil, Main
}

// FieldPath names the container inside the pod as events do: spec.containers{name}.
func FieldPath(name string, kind Kind) string {
	switch kind {
	case Init:
		return fmt.Sprintf("spec.initContainers{%s}", name)
	case Ephemeral:
		return fmt.Sprintf("spec.ephemeralContainers{%s}", name)
	default:
		return fmt.Sprintf("spec.containers{%s}", name)
	}
}

// IsSidecar tells whether an init container keeps running beside the main ones (restartPolicy: Always).
func IsSidecar(container *v1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == v1.ContainerRestartPolicyAlways
}

// ShouldRestart tells whether a container that ended with exitCode is to be run again: the container's own rules
// first, then its own policy, then the pod's.
func ShouldRestart(pod *v1.Pod, container *v1.Container, exitCode int32) bool {
	for _, rule := range container.RestartPolicyRules {
		if rule.ExitCodes != nil && exitCodeMatches(rule.ExitCodes, exitCode) {
			return rule.Action == v1.ContainerRestartRuleActionRestart
		}
	}
	if container.RestartPolicy != nil {
		switch *container.RestartPolicy {
		case v1.ContainerRestartPolicyAlways:
			return true
		case v1.ContainerRestartPolicyOnFailure:
			return exitCode != 0
		case v1.ContainerRestartPolicyNever:
			return false
		}
	}
	switch pod.Spec.RestartPolicy {
	case v1.RestartPolicyNever:
		return false
	case v1.RestartPolicyOnFailure:
		return exitCode != 0
	default:
		return true
	}
}

func exitCodeMatches(codes *v1.ContainerRestartRuleOnExitCodes, exitCode int32) bool {
	listed := false
	for _, value := range codes.Values {
		listed = listed || value == exitCode
	}
	return listed == (codes.Operator == v1.ContainerRestartRuleOnExitCodesOpIn)
}

// Describe names a pod in the texts of events and errors, as upstream does: name_namespace(uid).
func Describe(pod *v1.Pod) string {
	return fmt.Sprintf("%s_%s(%s)", pod.Name, pod.Namespace, pod.UID)
}
