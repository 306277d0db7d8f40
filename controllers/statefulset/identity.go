package statefulset

import (
	"fmt"
	"regexp"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

var memberName = regexp.MustCompile(`^(.*)-([0-9]+)$`)

// ordinalOf is the number in a pod's name; ok is false when it isn't one of the set's.
func ordinalOf(set *appsv1.StatefulSet, pod *corev1.Pod) (ordinal int, ok bool) {
	parts := memberName.FindStringSubmatch(pod.Name)
	if parts == nil || parts[1] != set.Name {
		return 0, false
	}
	parsed, err := strconv.ParseInt(parts[2], 10, 32)
	return int(parsed), err == nil
}

// firstOrdinal is where the set begins to count.
func firstOrdinal(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals != nil {
		return int(set.Spec.Ordinals.Start)
	}
	return 0
}

func podName(set *appsv1.StatefulSet, ordinal int) string {
	return fmt.Sprintf("%s-%d", set.Name, ordinal)
}

// newPod is the pod of one ordinal, of the given template and revision.
func newPod(set *appsv1.StatefulSet, template *corev1.PodTemplateSpec, revision string, ordinal int) *corev1.Pod {
	pod := podcontrol.NewPod(template, set, statefulSetKind)
	pod.Name = podName(set, ordinal)
	identify(pod, ordinal)
	pod.Labels[appsv1.StatefulSetRevisionLabel] = revision
	pod.Spec.Hostname = pod.Name
	pod.Spec.Subdomain = set.Spec.ServiceName
	mountClaims(set, pod, ordinal)
	return pod
}

// identify gives a pod the labels that tell who it is.
func identify(pod *corev1.Pod, ordinal int) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(ordinal)
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.StatefulSetRevisionLabel] }
