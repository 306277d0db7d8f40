package daemonset

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
)

// generationLabel is the label by which pods were told apart before revisions had hashes.
const generationLabel = "pod-template-generation"

// newPod is a pod of the template for one node.
func newPod(ds *appsv1.DaemonSet, hash, node string) *corev1.Pod {
	pod := podcontrol.NewPod(&ds.Spec.Template, ds, daemonSetKind)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	if generation := templateGeneration(ds); generation != "" {
		pod.Labels[generationLabel] = generation
	}
	pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = hash
	pod.Spec.Tolerations = tolerations(&pod.Spec)
	pin(&pod.Spec, node)
	return pod
}

// pin makes the scheduler choose the node, by its name. That replaces what the template
// requires of nodes, which has been looked at already.
func pin(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
		}}}},
	}
}

// nodeOf is the node that a pod is on or pinned to; empty when it is neither.
func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key != metav1.ObjectNameField || field.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if len(field.Values) != 1 {
				return ""
			}
			return field.Values[0]
		}
	}
	return ""
}

// updated says that the pod is of the present template.
func updated(ds *appsv1.DaemonSet, hash string, pod *corev1.Pod) bool {
	generation := templateGeneration(ds)
	return pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == hash && hash != "" ||
		generation != "" && pod.Labels[generationLabel] == generation
}

// templateGeneration is the deprecated annotation; empty when it isn't a number.
func templateGeneration(ds *appsv1.DaemonSet) string {
	generation, err := strconv.ParseInt(ds.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(generation, 10)
}
