package handlers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

func TestBackends(t *testing.T) {
	t.Parallel()
	pod := func(ip string, ready bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{Addresses: []string{ip}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}, TargetRef: &corev1.ObjectReference{Kind: "Pod"}}
	}
	port := func(name string, n int32) discoveryv1.EndpointPort {
		return discoveryv1.EndpointPort{Name: &name, Port: &n}
	}
	slice := func(service string, ports []discoveryv1.EndpointPort, endpoints ...discoveryv1.Endpoint) resource.Object {
		return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{discoveryv1.LabelServiceName: service}}, Ports: ports, Endpoints: endpoints}
	}
	one, two := []discoveryv1.EndpointPort{port("http", 80)}, []discoveryv1.EndpointPort{port("http", 80), port("https", 443)}
	outsider := pod("10.0.0.9", true)
	outsider.TargetRef = nil
	list := []resource.Object{
		slice("single", one, pod("10.0.0.1", true), pod("10.0.0.2", false), pod("127.0.0.1", true), outsider),
		slice("double", two, pod("10.0.0.3", true)),
		slice("unset", []discoveryv1.EndpointPort{{Port: ptr.To[int32](1)}}, discoveryv1.Endpoint{Addresses: []string{"fd00::1"}, TargetRef: &corev1.ObjectReference{Kind: "Pod"}}),
	}
	for _, test := range []struct {
		service, port string
		want          []string
	}{
		{"single", "", []string{"10.0.0.1:80"}},
		{"single", "http", []string{"10.0.0.1:80"}},
		{"single", "other", nil},
		{"double", "https", []string{"10.0.0.3:443"}},
		{"double", "", nil},
		{"unset", "", []string{"[fd00::1]:1"}},
		{"none", "", nil},
	} {
		if got := backends(list, test.service, test.port); !slices.Equal(got, test.want) {
			t.Errorf("%s:%s: %v, want %v", test.service, test.port, got, test.want)
		}
	}
}
