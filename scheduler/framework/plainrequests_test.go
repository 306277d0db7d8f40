package framework

import (
	"math/rand/v2"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestPlainRequests: where the short way is taken it leads where the long one does.
func TestPlainRequests(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	amounts := []string{"0", "1", "100m", "1500m", "333u", "7n", "64Mi", "1Gi", "1.5G", "2e3"}
	list := func(names ...corev1.ResourceName) corev1.ResourceList {
		var l corev1.ResourceList
		for _, name := range names {
			if r.IntN(2) == 0 {
				if l == nil {
					l = corev1.ResourceList{}
				}
				l[name] = resource.MustParse(amounts[r.IntN(len(amounts))])
			}
		}
		return l
	}
	plain := 0
	for range 5000 {
		pod := &corev1.Pod{}
		names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
		if r.IntN(10) == 0 {
			names = append(names, "example.com/gpu")
		}
		for i := range 1 + r.IntN(3) {
			c := corev1.Container{Name: string(rune('a' + i)), Resources: corev1.ResourceRequirements{Requests: list(names...)}}
			pod.Spec.Containers = append(pod.Spec.Containers, c)
			has := corev1.ContainerStatus{Name: c.Name}
			switch r.IntN(4) {
			case 0:
				has.AllocatedResources, has.Resources = c.Resources.Requests, &c.Resources
			case 1:
				has.AllocatedResources = list(names...)
			case 2:
				has.Resources = &corev1.ResourceRequirements{Requests: list(names...)}
			}
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, has)
		}
		switch r.IntN(12) {
		case 0:
			pod.Spec.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Requests: list(names...)}}}
		case 1:
			pod.Spec.Overhead = list(names...)
		case 2:
			pod.Spec.Resources = &corev1.ResourceRequirements{Requests: list(names...)}
		case 3:
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
		case 4:
			pod.Status.AllocatedResources, pod.Status.Resources = list(names...), &corev1.ResourceRequirements{Requests: list(names...)}
		}
		requests, assumed, ok := plainRequests(pod)
		if !ok {
			continue
		}
		plain++
		wantRequests, wantAssumed := anyRequests(pod)
		if !reflect.DeepEqual(requests, wantRequests) || assumed.MilliCPU != wantAssumed.MilliCPU || assumed.Memory != wantAssumed.Memory {
			t.Fatalf("%+v\ngot %+v, %+v, want %+v, %+v", pod, requests, assumed, wantRequests, wantAssumed)
		}
	}
	if plain < 1000 {
		t.Errorf("only %d of 5000 pods were plain", plain)
	}
}
