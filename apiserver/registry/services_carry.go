package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// portKey tells the ports of a Service apart.
type portKey struct {
	protocol corev1.Protocol
	port     int32
}

// carryOver keeps what an update leaves out: a client that read the Service long ago, or writes only what it
// wants, does not lose its address.
func carryOver(svc, was *corev1.Service) {
	if core.NeedsClusterIP(was) && core.NeedsClusterIP(svc) {
		if svc.Spec.ClusterIP == "" {
			svc.Spec.ClusterIP = was.Spec.ClusterIP
		}
		if len(svc.Spec.ClusterIPs) == 0 {
			svc.Spec.ClusterIPs = was.Spec.ClusterIPs
		}
		if svc.Spec.IPFamilies == nil {
			svc.Spec.IPFamilies = was.Spec.IPFamilies
		}
		if svc.Spec.IPFamilyPolicy == nil {
			svc.Spec.IPFamilyPolicy = was.Spec.IPFamilyPolicy
		}
	}
	if core.NeedsClusterIP(was) && !core.NeedsClusterIP(svc) {
		dropAddresses(svc, was)
	}
	if core.NeedsNodePorts(was) && core.NeedsNodePorts(svc) {
		carryPorts(svc, was)
	}
	if core.NeedsNodePorts(was) && !core.NeedsNodePorts(svc) && samePorts(svc, was) {
		for i := range svc.Spec.Ports {
			svc.Spec.Ports[i].NodePort = 0
		}
	}
	if core.NeedsHealthCheck(was) {
		switch {
		case core.NeedsHealthCheck(svc) && svc.Spec.HealthCheckNodePort == 0:
			svc.Spec.HealthCheckNodePort = was.Spec.HealthCheckNodePort
		case !core.NeedsHealthCheck(svc) && svc.Spec.HealthCheckNodePort == was.Spec.HealthCheckNodePort:
			svc.Spec.HealthCheckNodePort = 0
		}
	}
	if was.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		svc.Spec.AllocateLoadBalancerNodePorts, svc.Spec.LoadBalancerClass = nil, nil
	}
	if external(was) && !external(svc) && svc.Spec.ExternalTrafficPolicy == was.Spec.ExternalTrafficPolicy {
		svc.Spec.ExternalTrafficPolicy = ""
	}
}

// external says that a Service is reached from outside of the cluster too.
func external(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer || s.Spec.Type == corev1.ServiceTypeNodePort ||
		(s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0)
}

// dropAddresses wipes what a type without an address has no use for, unless the client changed it.
func dropAddresses(svc, was *corev1.Service) {
	if svc.Spec.ClusterIP == was.Spec.ClusterIP {
		svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "", nil
	}
	svc.Spec.IPFamilies, svc.Spec.IPFamilyPolicy = nil, nil
	if ptr.Equal(svc.Spec.InternalTrafficPolicy, was.Spec.InternalTrafficPolicy) {
		svc.Spec.InternalTrafficPolicy = nil
	}
}

// carryPorts keeps the node ports of ports that stayed.
func carryPorts(svc, was *corev1.Service) {
	had := map[portKey]int32{}
	for _, p := range was.Spec.Ports {
		had[portKey{p.Protocol, p.Port}] = p.NodePort
	}
	used := map[int32]bool{}
	for _, p := range svc.Spec.Ports {
		used[p.NodePort] = true
	}
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if n := had[portKey{p.Protocol, p.Port}]; p.NodePort == 0 && n != 0 && !used[n] {
			p.NodePort = n
		}
	}
}

func samePorts(svc, was *corev1.Service) bool {
	had := map[int32]bool{}
	for _, p := range was.Spec.Ports {
		had[p.NodePort] = true
	}
	for _, p := range svc.Spec.Ports {
		if p.NodePort != 0 && !had[p.NodePort] {
			return false
		}
	}
	return true
}

// normalize keeps clusterIP, the old name of the first of clusterIPs, in step with them.
func normalize(svc, was *corev1.Service) {
	spec := &svc.Spec
	if was != nil && spec.ClusterIP != was.Spec.ClusterIP && len(spec.ClusterIPs) > 0 && len(was.Spec.ClusterIPs) > 0 && spec.ClusterIPs[0] == was.Spec.ClusterIPs[0] {
		// An old client changed only what it knows.
		spec.ClusterIPs = nil
	}
	if spec.ClusterIP != "" && len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
}
