package downward

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Facts are what a pod may ask about that doesn't stand in it.
type Facts struct {
	HostIPs []string
	PodIPs  []string
	// Allocatable of the node: the limit of a container that has none.
	Allocatable v1.ResourceList
}

// Field returns a field of the pod as text. The paths are those that the API allows.
func Field(pod *v1.Pod, path string, facts Facts) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return formatMap(pod.Labels), nil
	case "metadata.annotations":
		return formatMap(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP":
		return first(facts.HostIPs), nil
	case "status.hostIPs":
		return strings.Join(facts.HostIPs, ","), nil
	case "status.podIP":
		return first(facts.PodIPs), nil
	case "status.podIPs":
		return strings.Join(facts.PodIPs, ","), nil
	}
	return subscripted(pod, path)
}

// subscripted handles metadata.labels['key'] and metadata.annotations['key'].
func subscripted(pod *v1.Pod, path string) (string, error) {
	field, key, found := strings.Cut(strings.TrimSuffix(path, "']"), "['")
	if !found || !strings.HasSuffix(path, "']") {
		return "", fmt.Errorf("unsupported fieldPath: %v", path)
	}
	values, checked := pod.Labels, key
	switch field {
	case "metadata.labels":
	case "metadata.annotations":
		values, checked = pod.Annotations, strings.ToLower(key)
	default:
		return "", fmt.Errorf("fieldPath %q does not support subscript", path)
	}
	if problems := validation.IsQualifiedName(checked); len(problems) > 0 {
		return "", fmt.Errorf("invalid key subscript in %s: %s", path, strings.Join(problems, ";"))
	}
	return values[key], nil
}

// formatMap writes one key="value" a line, sorted.
func formatMap(values map[string]string) string {
	lines := make([]string, 0, len(values))
	for key := range values {
		lines = append(lines, key)
	}
	slices.Sort(lines)
	for i, key := range lines {
		lines[i] = key + "=" + strconv.Quote(values[key])
	}
	return strings.Join(lines, "\n")
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
