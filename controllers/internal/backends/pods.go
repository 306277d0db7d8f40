package backends

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Wanted says that a Service's endpoints are kept by controllers: it selects pods, and
// isn't a mere name for something else.
func Wanted(service *corev1.Service) bool {
	return service.Spec.Selector != nil && service.Spec.Type != corev1.ServiceTypeExternalName
}

// Headless says that a Service has no address of its own.
func Headless(service *corev1.Service) bool {
	return service.Spec.ClusterIP == "" || service.Spec.ClusterIP == corev1.ClusterIPNone
}

// Serves says that a pod may be listed: it has an address and hasn't finished. A pod
// being deleted may still answer, and is listed only where that can be said of it.
func Serves(pod *corev1.Pod, includeTerminating bool) bool {
	hasAddress := pod.Status.PodIP != "" || len(pod.Status.PodIPs) > 0
	return hasAddress && !podstate.Finished(pod) && (includeTerminating || pod.DeletionTimestamp == nil)
}

// Hostname is the name under which the pod is known within the Service's domain; empty
// when the pod didn't ask for one there.
func Hostname(pod *corev1.Pod, service *corev1.Service) string {
	if pod.Spec.Subdomain == service.Name && pod.Namespace == service.Namespace {
		return pod.Spec.Hostname
	}
	return ""
}

// Port finds the number that a Service's port has on a pod: the number itself, or that
// of the container port of that name and protocol; sidecars count as containers.
func Port(pod *corev1.Pod, port *corev1.ServicePort) (number int32, ok bool) {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal, true
	}
	find := func(containers []corev1.Container, sidecarsOnly bool) (int32, bool) {
		for i := range containers {
			policy := containers[i].RestartPolicy
			if sidecarsOnly && (policy == nil || *policy != corev1.ContainerRestartPolicyAlways) {
				continue
			}
			for _, candidate := range containers[i].Ports {
				if candidate.Name == port.TargetPort.StrVal && candidate.Protocol == port.Protocol {
					return candidate.ContainerPort, true
				}
			}
		}
		return 0, false
	}
	if number, ok := find(pod.Spec.Containers, false); ok {
		return number, true
	}
	return find(pod.Spec.InitContainers, true)
}

// Addresses gives the pod's addresses of one family, in canonical form.
func Addresses(pod *corev1.Pod, family corev1.IPFamily) []string {
	addresses := []string{}
	for _, ip := range pod.Status.PodIPs {
		addr, err := netip.ParseAddr(ip.IP)
		if err != nil {
			continue // the kubelet's mistake; there is nothing to send packets to
		}
		addr = addr.Unmap()
		if addr.Is6() == (family == corev1.IPv6Protocol) {
			addresses = append(addresses, addr.String())
		}
	}
	return addresses
}

// Families gives the address families of a Service, which the API server fills in.
func Families(service *corev1.Service) []corev1.IPFamily {
	if len(service.Spec.IPFamilies) > 0 {
		return service.Spec.IPFamilies
	}
	if addr, err := netip.ParseAddr(service.Spec.ClusterIP); err == nil && addr.Is6() {
		return []corev1.IPFamily{corev1.IPv6Protocol}
	}
	return []corev1.IPFamily{corev1.IPv4Protocol}
}
