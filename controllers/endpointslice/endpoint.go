package endpointslice

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// newEndpoint describes a pod as an endpoint. Serving is what the probes say; ready is
// that and not being deleted, or whatever the Service wants published. node may be nil.
func newEndpoint(service *corev1.Service, pod *corev1.Pod, node *corev1.Node, family corev1.IPFamily) discoveryv1.Endpoint {
	serving := podstate.Ready(pod)
	terminating := pod.DeletionTimestamp != nil
	endpoint := discoveryv1.Endpoint{
		Addresses: backends.Addresses(pod, family),
		Conditions: discoveryv1.EndpointConditions{
			Ready:       ptr.To(service.Spec.PublishNotReadyAddresses || (serving && !terminating)),
			Serving:     ptr.To(serving),
			Terminating: ptr.To(terminating),
		},
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
	}
	if pod.Spec.NodeName != "" {
		endpoint.NodeName = ptr.To(pod.Spec.NodeName)
	}
	if node != nil && node.Labels[corev1.LabelTopologyZone] != "" {
		endpoint.Zone = ptr.To(node.Labels[corev1.LabelTopologyZone])
	}
	if hostname := backends.Hostname(pod, service); hostname != "" {
		endpoint.Hostname = ptr.To(hostname)
	}
	endpoint.Hints = hints(service, &endpoint)
	return endpoint
}

// hints says for which zones or nodes an endpoint is meant, as the Service's
// trafficDistribution asks.
func hints(service *corev1.Service, endpoint *discoveryv1.Endpoint) *discoveryv1.EndpointHints {
	if service.Spec.TrafficDistribution == nil || !ptr.Deref(endpoint.Conditions.Ready, false) {
		return nil
	}
	hints := &discoveryv1.EndpointHints{}
	if endpoint.Zone != nil {
		hints.ForZones = []discoveryv1.ForZone{{Name: *endpoint.Zone}}
	}
	switch *service.Spec.TrafficDistribution {
	case corev1.ServiceTrafficDistributionPreferSameNode:
		if endpoint.NodeName != nil {
			hints.ForNodes = []discoveryv1.ForNode{{Name: *endpoint.NodeName}}
		}
	case corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone:
	default:
		return nil
	}
	if hints.ForZones == nil && hints.ForNodes == nil {
		return nil
	}
	return hints
}

// newPorts gives the ports of a Service with the numbers that they have on a pod. Ports
// that the pod doesn't have are left out. The order is upstream's, by content.
func newPorts(service *corev1.Service, pod *corev1.Pod) []discoveryv1.EndpointPort {
	ports := []discoveryv1.EndpointPort{}
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		number, ok := backends.Port(pod, port)
		if !ok {
			continue
		}
		ports = append(ports, discoveryv1.EndpointPort{
			Name: ptr.To(port.Name), Port: ptr.To(number), Protocol: ptr.To(port.Protocol), AppProtocol: port.AppProtocol,
		})
	}
	slices.SortFunc(ports, func(a, b discoveryv1.EndpointPort) int {
		return bytes.Compare(backends.ContentHash(a), backends.ContentHash(b))
	})
	return ports
}
