package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// TestServiceRules: what a Service may say of its addresses and of the balancer in front of it.
func TestServiceRules(t *testing.T) {
	t.Parallel()
	valid := func() *corev1.Service {
		s := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, Ports: []corev1.ServicePort{{Port: 80}}}}
		defaultService(s)
		return s
	}
	if errs := validateService(valid()); len(errs) > 0 {
		t.Fatalf("a valid service: %v", errs)
	}
	for _, c := range []struct {
		change func(*corev1.Service)
		want   string
	}{
		{func(s *corev1.Service) { s.Spec.ClusterIP = "10.0.0.2" }, "spec.clusterIPs: Invalid value: [\"10.0.0.1\"]: first value must match `clusterIP`"},
		{func(s *corev1.Service) { s.Spec.IPFamilies = []corev1.IPFamily{"IPv6"} }, "spec.clusterIPs[0]: Invalid value: \"10.0.0.1\": expected an IPv6 value as indicated by `ipFamilies[0]`"},
		{func(s *corev1.Service) { s.Spec.ExternalIPs = []string{"127.0.0.1"}; defaultService(s) }, `spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`},
		{func(s *corev1.Service) { s.Spec.LoadBalancerClass = ptr.To("a/b") }, "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		{func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 30500 }, "spec.healthCheckNodePort: Invalid value: 30500: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
		{func(s *corev1.Service) { s.Spec.TrafficDistribution = ptr.To("Nope") }, `spec.trafficDistribution: Unsupported value: "Nope": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"`},
	} {
		s := valid()
		c.change(s)
		expect(t, validateService(s), c.want)
	}
	s := valid()
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "a"}}
	expect(t, validateIngress(s), "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'")
}

func expect(t *testing.T, errs field.ErrorList, want string) {
	t.Helper()
	if len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got  %v\nwant %s", errs, want)
	}
}
