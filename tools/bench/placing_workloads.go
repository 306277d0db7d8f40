package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// workload is one of scheduler_perf: first so many pods per node are placed, then as many as there are nodes are measured.
type workload struct {
	name        string
	perNode     int
	first, then func(*corev1.Pod)
}

var workloads = []workload{
	{"SchedulingBasic", 1, plain, plain},
	{"NodeAffinity", 1, inTwoZones, inTwoZones},
	{"Secrets", 1, withSecret, withSecret},
	{"DefaultTopologySpreading", 1, member, member},
	{"PodAffinity", 1, blue, nearBlue},
	{"PreemptionAsync", 4, lesser, urgent},
}

// measuredPod is a pod as scheduler_perf's are.
func measuredPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers: []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.1", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("500Mi")}}}},
	}}
}

func plain(*corev1.Pod) {}

func inTwoZones(pod *corev1.Pod) {
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-0", "zone-1"}}}}},
	}}}
}

func withSecret(pod *corev1.Pod) {
	pod.Spec.Volumes = []corev1.Volume{{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret"}}}}
}

// member belongs to a service, so that it is spread by default.
func member(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "member"} }

func blue(pod *corev1.Pod) { pod.Labels = map[string]string{"color": "blue"} }

// nearBlue wants to be in a zone with its like, of either namespace.
func nearBlue(pod *corev1.Pod) {
	blue(pod)
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}},
		Namespaces: []string{"first", "then"},
	}}}}
}

// lesser pods fill the nodes, urgent ones take the place of three of them.
func lesser(pod *corev1.Pod) {
	pod.Spec.PriorityClassName = "low"
	pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("900m")
}

func urgent(pod *corev1.Pod) {
	pod.Spec.PriorityClassName = "high"
	pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("3")
}
