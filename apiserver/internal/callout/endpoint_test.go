package callout

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func slice(kind discoveryv1.AddressType, port string, number int32, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{AddressType: kind, Endpoints: endpoints, Ports: []discoveryv1.EndpointPort{{Name: &port, Port: &number}}}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	service := func(kind corev1.ServiceType) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Type: kind, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Name: "https", Port: 443}, {Name: "other", Port: 80}}}}
	}
	ready, unready := discoveryv1.Endpoint{Addresses: []string{"10.0.0.1"}}, discoveryv1.Endpoint{Addresses: []string{"10.0.0.2"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(false)}}
	six := discoveryv1.Endpoint{Addresses: []string{"fd00::1"}}
	for _, c := range []struct {
		name   string
		s      *corev1.Service
		slices []*discoveryv1.EndpointSlice
		port   int32
		want   string // an address or an error
	}{
		{"the ready one", service("ClusterIP"), []*discoveryv1.EndpointSlice{slice("IPv4", "https", 8443, unready, ready)}, 443, "10.0.0.1:8443"},
		{"its family first", service("ClusterIP"), []*discoveryv1.EndpointSlice{slice("IPv6", "https", 8443, six), slice("IPv4", "https", 8443, ready)}, 443, "10.0.0.1:8443"},
		{"else the other", service("ClusterIP"), []*discoveryv1.EndpointSlice{slice("IPv6", "https", 8443, six)}, 443, "[fd00::1]:8443"},
		{"none ready", service("NodePort"), []*discoveryv1.EndpointSlice{slice("IPv4", "https", 8443, unready)}, 443, `no endpoints available for service "s"`},
		{"another port's", service("NodePort"), []*discoveryv1.EndpointSlice{slice("IPv4", "other", 8080, ready)}, 443, `no endpoints available for service "s"`},
		{"no such port", service("ClusterIP"), nil, 1, `no service port 1 found for service "s"`},
		{"outside", service("ExternalName"), nil, 443, `unsupported service type "ExternalName"`},
	} {
		got, err := Endpoint(c.s, c.slices, c.port)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
