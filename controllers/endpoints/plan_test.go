package endpoints

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
)

func address(ip string) corev1.EndpointAddress { return corev1.EndpointAddress{IP: ip} }

func port(number int32) corev1.EndpointPort {
	return corev1.EndpointPort{Name: fmt.Sprint(number), Port: number, Protocol: corev1.ProtocolTCP}
}

func TestRepack(t *testing.T) {
	t.Parallel()
	raw := []corev1.EndpointSubset{
		{Addresses: []corev1.EndpointAddress{address("10.0.0.2")}, Ports: []corev1.EndpointPort{port(80), port(443)}},
		{Addresses: []corev1.EndpointAddress{address("10.0.0.1")}, Ports: []corev1.EndpointPort{port(80)}},
		{Addresses: []corev1.EndpointAddress{address("10.0.0.1")}, Ports: []corev1.EndpointPort{port(443)}},
		{NotReadyAddresses: []corev1.EndpointAddress{address("10.0.0.3")}, Ports: []corev1.EndpointPort{port(80)}},
		{Addresses: []corev1.EndpointAddress{address("10.0.0.3")}, Ports: []corev1.EndpointPort{port(80)}},
	}
	packed := backends.Repack(raw)
	byPort := map[string]corev1.EndpointSubset{}
	for _, subset := range packed {
		for _, p := range subset.Ports {
			byPort[p.Name] = subset
		}
	}
	if s := byPort["443"]; len(s.Addresses) != 2 || s.Addresses[0].IP != "10.0.0.1" {
		t.Errorf("443 is had by %v", s.Addresses)
	}
	if s := byPort["80"]; len(s.Addresses) != 2 || len(s.NotReadyAddresses) != 1 || s.NotReadyAddresses[0].IP != "10.0.0.3" {
		t.Errorf("80 is had by %v and %v", s.Addresses, s.NotReadyAddresses)
	}
	if again := backends.Repack(packed); !sameSubsets(again, packed) || len(again) != len(packed) {
		t.Error("packing what is packed changes it")
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns", Labels: map[string]string{"a": "b"}},
		Spec: corev1.ServiceSpec{ClusterIP: "None", IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80), Protocol: corev1.ProtocolTCP}}},
	}
	var pods []corev1.Pod
	for i := range 1200 {
		ready := corev1.ConditionTrue
		if i >= 900 {
			ready = corev1.ConditionFalse
		}
		pods = append(pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i))},
			Status: corev1.PodStatus{PodIP: "x", PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}},
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
		})
	}
	wanted, change := Decide(Observed{Service: service, Pods: pods})
	if !change || wanted.Annotations[corev1.EndpointsOverCapacity] != truncated {
		t.Errorf("change %v, annotations %v", change, wanted.Annotations)
	}
	if s := wanted.Subsets[0]; len(s.Addresses) != 900 || len(s.NotReadyAddresses) != 100 {
		t.Errorf("%d ready and %d not", len(s.Addresses), len(s.NotReadyAddresses))
	}
	for key, value := range map[string]string{"a": "b", corev1.IsHeadlessService: "", managedByLabel: managedBy} {
		if got, ok := wanted.Labels[key]; !ok || got != value {
			t.Errorf("label %s is %q", key, got)
		}
	}
	wanted, _ = Decide(Observed{Service: service, Pods: pods[:3], Current: wanted})
	if _, over := wanted.Annotations[corev1.EndpointsOverCapacity]; over || len(wanted.Subsets[0].Addresses) != 3 {
		t.Errorf("after shrinking: %v", wanted)
	}
	if _, change := Decide(Observed{Service: service, Pods: pods[:3], Current: wanted}); change {
		t.Error("nothing has changed, and it is written")
	}
}
