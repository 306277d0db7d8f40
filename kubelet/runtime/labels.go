package runtime

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
)

// Annotations of containers, named as upstream names them, so that tools which read the runtime's state
// (crictl, log shippers) find what they expect.
const (
	annotationDeletionGrace            = "io.kubernetes.pod.deletionGracePeriod"
	annotationTerminationGrace         = "io.kubernetes.pod.terminationGracePeriod"
	annotationHash                     = "io.kubernetes.container.hash"
	annotationRestartCount             = "io.kubernetes.container.restartCount"
	annotationTerminationMessagePath   = "io.kubernetes.container.terminationMessagePath"
	annotationTerminationMessagePolicy = "io.kubernetes.container.terminationMessagePolicy"
	annotationPreStop                  = "io.kubernetes.container.preStopHandler"
	annotationPorts                    = "io.kubernetes.container.ports"
)

// Saved is what a container's annotations keep of its pod, for the time after the pod is gone from the API.
type Saved struct {
	TerminationMessagePath   string
	TerminationMessagePolicy v1.TerminationMessagePolicy
	// DeletionGrace and TerminationGrace are in seconds; nil when the pod had none.
	DeletionGrace    *int64
	TerminationGrace *int64
	PreStop          *v1.LifecycleHandler
	Ports            []v1.ContainerPort
}

// AnnotationMustEnd marks containers that others of their pod wait for. No runtime of real containers reads it.
const AnnotationMustEnd = "kubelet.kogge.dev/must-end"

func sandboxLabels(pod *v1.Pod) map[string]string {
	labels := make(map[string]string, len(pod.Labels)+3)
	maps.Copy(labels, pod.Labels)
	maps.Copy(labels, podLabels(pod))
	return labels
}

func podLabels(pod *v1.Pod) map[string]string {
	return map[string]string{
		kubelettypes.KubernetesPodNameLabel:      pod.Name,
		kubelettypes.KubernetesPodNamespaceLabel: pod.Namespace,
		kubelettypes.KubernetesPodUIDLabel:       string(pod.UID),
	}
}

func containerLabels(pod *v1.Pod, container *v1.Container) map[string]string {
	labels := podLabels(pod)
	labels[kubelettypes.KubernetesContainerNameLabel] = container.Name
	return labels
}

func containerAnnotations(pod *v1.Pod, container *v1.Container, restartCount int) (map[string]string, error) {
	annotations := map[string]string{
		annotationHash:                     strconv.FormatUint(HashContainer(container), 16),
		annotationRestartCount:             strconv.Itoa(restartCount),
		annotationTerminationMessagePath:   container.TerminationMessagePath,
		annotationTerminationMessagePolicy: string(container.TerminationMessagePolicy),
	}
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		annotations[annotationDeletionGrace] = strconv.FormatInt(*grace, 10)
	}
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil {
		annotations[annotationTerminationGrace] = strconv.FormatInt(*grace, 10)
	}
	if container.Lifecycle != nil && container.Lifecycle.PreStop != nil {
		if err := annotateJSON(annotations, annotationPreStop, container.Lifecycle.PreStop); err != nil {
			return nil, err
		}
	}
	if mustEnd(pod, container) {
		annotations[AnnotationMustEnd] = "true"
	}
	if len(container.Ports) > 0 {
		if err := annotateJSON(annotations, annotationPorts, container.Ports); err != nil {
			return nil, err
		}
	}
	return annotations, nil
}

// mustEnd says whether others of the pod wait until a container has ended: an init container's lot, but not a sidecar's.
func mustEnd(pod *v1.Pod, container *v1.Container) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c v1.Container) bool {
		return c.Name == container.Name && (c.RestartPolicy == nil || *c.RestartPolicy != v1.ContainerRestartPolicyAlways)
	})
}

func annotateJSON(annotations map[string]string, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("annotation %s: %w", key, err)
	}
	annotations[key] = string(raw)
	return nil
}

// parseAnnotations reads what containerAnnotations wrote. A value that can't be read counts as absent: the
// container may have been made by another tool, and it must be possible to stop it all the same.
func parseAnnotations(annotations map[string]string) (hash uint64, restartCount int, saved Saved) {
	hash = parsed(annotations[annotationHash], func(s string) (uint64, error) { return strconv.ParseUint(s, 16, 64) })
	restartCount = parsed(annotations[annotationRestartCount], strconv.Atoi)
	saved = Saved{
		TerminationMessagePath:   annotations[annotationTerminationMessagePath],
		TerminationMessagePolicy: v1.TerminationMessagePolicy(annotations[annotationTerminationMessagePolicy]),
		DeletionGrace:            parsed(annotations[annotationDeletionGrace], parseSeconds),
		TerminationGrace:         parsed(annotations[annotationTerminationGrace], parseSeconds),
		PreStop:                  parsed(annotations[annotationPreStop], parseJSON[*v1.LifecycleHandler]),
		Ports:                    parsed(annotations[annotationPorts], parseJSON[[]v1.ContainerPort]),
	}
	return hash, restartCount, saved
}

func parsed[T any](text string, parse func(string) (T, error)) T {
	var zero T
	if text == "" {
		return zero
	}
	value, err := parse(text)
	if err != nil {
		return zero
	}
	return value
}

func parseSeconds(text string) (*int64, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	return &seconds, err
}

func parseJSON[T any](text string) (T, error) {
	var value T
	err := json.Unmarshal([]byte(text), &value)
	return value, err
}

// HashContainer tells two container specifications apart as far as a running container must be replaced for them.
// Of the fields that may change in place, only the image counts (as upstream's HashContainer).
func HashContainer(container *v1.Container) uint64 {
	sum := fnv.New32a()
	// fnv's Write never fails; the zero byte keeps ("ab","c") and ("a","bc") apart.
	_, _ = sum.Write([]byte(container.Name + "\x00" + container.Image))
	return uint64(sum.Sum32())
}
