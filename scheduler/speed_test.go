package scheduler

import (
	"fmt"
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kogge-dev/kogge/scheduler/queue"
)

// benchNodes is how many nodes the benchmark's cluster has, in benchZones zones.
const benchNodes, benchZones = 1000, 3

// BenchmarkFind places one pod after the other in a cluster of 1,000 nodes; nothing is
// written. pods/s is what one core would place if there were no API.
func BenchmarkFind(b *testing.B) {
	for name, of := range map[string]func(int) *corev1.Pod{
		"plain": benchPod, "of a service": benchMember, "apart": benchApart, "near": benchNear,
	} {
		b.Run(name, func(b *testing.B) { benchmarkFind(b, of) })
	}
}

func benchmarkFind(b *testing.B, of func(int) *corev1.Pod) {
	s, err := newScheduler(fake.NewClientset(), nil, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	service.Spec.Selector = map[string]string{"app": "web"}
	if err := s.factory.Core().V1().Services().Informer().GetIndexer().Add(service); err != nil {
		b.Fatal(err)
	}
	for i := range benchNodes {
		s.cache.SetNode(benchNode(i))
	}
	b.ReportAllocs()
	number := 0
	for b.Loop() {
		c := newCycle(s.profiles[corev1.DefaultSchedulerName], &queue.Entry{Pod: of(number)})
		s.cache.Update(&s.snapshot)
		node, err := s.find(c)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.cache.Assume(c.pod, node); err != nil {
			b.Fatal(err)
		}
		number++
	}
	b.ReportMetric(float64(number)/b.Elapsed().Seconds(), "pods/s")
}

func benchNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%benchZones), corev1.LabelArchStable: "amd64",
	}}}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("1000"),
	}
	return node
}

func benchPod(i int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("pod-%d", i), UID: types.UID(fmt.Sprint(i))}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "app:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("10Mi"),
	}}}}
	return pod
}

func benchMember(i int) *corev1.Pod {
	pod := benchPod(i)
	pod.Labels = map[string]string{"app": "web"}
	return pod
}

// benchNear is one of those that want to be in one zone.
func benchNear(i int) *corev1.Pod {
	pod := benchPod(i)
	pod.Labels = map[string]string{"color": "blue"}
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		}},
	}}
	return pod
}

// BenchmarkMakeRoom looks for victims of a pod that fits nowhere, on 1,000 nodes with four
// less urgent pods each, of which three have to go.
func BenchmarkMakeRoom(b *testing.B) {
	s, err := newScheduler(fake.NewClientset(), nil, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range benchNodes {
		s.cache.SetNode(benchNode(i))
		for j := range 4 {
			pod := benchPod(4*i + j)
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("15")
			pod.Spec.NodeName = fmt.Sprintf("node-%d", i)
			s.cache.SetPod(pod)
		}
	}
	urgent := int32(10)
	b.ReportAllocs()
	for b.Loop() {
		pod := benchPod(-1)
		pod.Spec.Priority = &urgent
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("48")
		c := newCycle(s.profiles[corev1.DefaultSchedulerName], &queue.Entry{Pod: pod})
		s.cache.Update(&s.snapshot)
		if _, err := s.find(c); c.preemption == nil || len(c.preemption.Victims) != 3 {
			b.Fatal(err)
		}
	}
}

// benchApart is one of a pair that keeps apart.
func benchApart(i int) *corev1.Pod {
	pod := benchPod(i)
	pair := map[string]string{"pair": fmt.Sprint(i / 2)}
	pod.Labels = pair
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: pair},
		}},
	}}
	return pod
}
