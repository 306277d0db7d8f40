package callout

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Endpoint chooses a ready endpoint of a Service's port among the Service's slices, of the Service's first family of
// addresses if there is one.
func Endpoint(s *corev1.Service, slices []*discoveryv1.EndpointSlice, port int32) (string, error) {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
	default:
		return "", fmt.Errorf("unsupported service type %q", s.Spec.Type)
	}
	name, ok := portName(s, port)
	if !ok {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", port, s.Name))
	}
	var preferred, others []string
	for _, slice := range slices {
		addresses := ready(slice, name)
		if len(s.Spec.IPFamilies) == 0 || string(slice.AddressType) == string(s.Spec.IPFamilies[0]) {
			preferred = append(preferred, addresses...)
		} else {
			others = append(others, addresses...)
		}
	}
	if len(preferred) == 0 {
		preferred = others
	}
	if len(preferred) == 0 {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", s.Name))
	}
	return preferred[rand.IntN(len(preferred))], nil
}

func portName(s *corev1.Service, port int32) (string, bool) {
	for _, p := range s.Spec.Ports {
		if p.Port == port {
			return p.Name, true
		}
	}
	return "", false
}

// ready gives the addresses of a slice's ready endpoints with the port of a name.
func ready(slice *discoveryv1.EndpointSlice, name string) []string {
	var out []string
	for _, p := range slice.Ports {
		if p.Name == nil || *p.Name != name || p.Port == nil {
			continue
		}
		for _, e := range slice.Endpoints {
			if (e.Conditions.Ready == nil || *e.Conditions.Ready) && len(e.Addresses) > 0 {
				out = append(out, net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*p.Port))))
			}
		}
	}
	return out
}
