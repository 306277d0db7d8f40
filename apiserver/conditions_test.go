package apiserver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

func TestReachable(t *testing.T) {
	t.Parallel()
	ref := &apiregistrationv1.ServiceReference{Namespace: "n", Name: "s", Port: ptr.To[int32](443)}
	service := func(port int32) *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: port}}}}
	}
	slice := func(port string, endpoints int) resource.Object {
		return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{discoveryv1.LabelServiceName: "s"}},
			Ports: []discoveryv1.EndpointPort{{Name: &port}}, Endpoints: make([]discoveryv1.Endpoint, endpoints)}
	}
	for _, test := range []struct {
		service      *corev1.Service
		slices       []resource.Object
		reason, text string
	}{
		{nil, nil, "ServiceNotFound", `service/s in "n" is not present`},
		{service(80), nil, "ServicePortError", `service/s in "n" is not listening on port 443`},
		{service(443), nil, "EndpointsNotFound", `cannot find endpointslices for service/s in "n"`},
		{service(443), []resource.Object{slice("http", 1)}, "MissingEndpoints", `endpointslices for service/s in "n" have no addresses with port name "https"`},
		{service(443), []resource.Object{slice("https", 0)}, "MissingEndpoints", `endpointslices for service/s in "n" have no addresses with port name "https"`},
		{service(443), []resource.Object{slice("https", 1)}, "FailedDiscoveryCheck", "requests for API servers other than this one are not passed on"},
	} {
		if got := reachable(ref, test.service, test.slices); got.Reason != test.reason || got.Message != test.text {
			t.Errorf("%s: %s, want %s: %s", got.Reason, got.Message, test.reason, test.text)
		}
	}
}

func TestDangling(t *testing.T) {
	t.Parallel()
	if c := dangling("l", true); c.Status != "False" || c.Reason != "Found" {
		t.Errorf("the level is there: %+v", c)
	}
	if c := dangling("l", false); c.Status != "True" || c.Reason != "NotFound" {
		t.Errorf("the level is not there: %+v", c)
	}
}
