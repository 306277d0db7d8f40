package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/goform"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var servicePath = field.NewPath("spec")

// maxAffinitySeconds is a day.
const maxAffinitySeconds = 86400

func oneOf[T ~string](path *field.Path, v T, all ...T) field.ErrorList {
	switch {
	case slices.Contains(all, v):
		return nil
	case v == "":
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, v, all)}
}

func invalid(path *field.Path, value any, texts []string) field.ErrorList {
	var errs field.ErrorList
	for _, t := range texts {
		errs = append(errs, field.Invalid(path, value, t))
	}
	return errs
}

func headless(s *corev1.Service) bool {
	return len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone || s.Spec.ClusterIP == corev1.ClusterIPNone
}

// validateService judges a Service on its own.
func validateService(s *corev1.Service) field.ErrorList {
	spec := &s.Spec
	var errs field.ErrorList
	ports := servicePath.Child("ports")
	if len(spec.Ports) == 0 && !headless(s) && spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(ports, ""))
	}
	errs = append(errs, validateServiceType(s)...)
	errs = append(errs, validateServicePorts(s, ports)...)
	errs = append(errs, unversioned.ValidateLabels(spec.Selector, servicePath.Child("selector"))...)
	errs = append(errs, oneOf(servicePath.Child("sessionAffinity"), spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	errs = append(errs, validateSessionAffinity(spec)...)
	errs = append(errs, ValidateAddresses(s)...)
	for i, ip := range spec.ExternalIPs {
		errs = append(errs, validateReachable(ip, servicePath.Child("externalIPs").Index(i))...)
	}
	errs = append(errs, oneOf(servicePath.Child("type"), spec.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
	errs = append(errs, validateNoNodePorts(spec, ports)...)
	errs = append(errs, validateDuplicatePorts(s, ports)...)
	errs = append(errs, validateBalancer(s)...)
	errs = append(errs, validateTrafficPolicies(s)...)
	if d := spec.TrafficDistribution; d != nil {
		errs = append(errs, rules.Among(servicePath.Child("trafficDistribution"), *d, corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)...)
	}
	return errs
}

func validateNoNodePorts(spec *corev1.ServiceSpec, ports *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, p := range spec.Ports {
		if p.NodePort != 0 && spec.Type == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(ports.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
	}
	return errs
}

func validateServiceType(s *corev1.Service) field.ErrorList {
	spec := &s.Spec
	var errs field.ErrorList
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer:
		if headless(s) {
			errs = append(errs, field.Invalid(servicePath.Child("clusterIPs").Index(0), spec.ClusterIPs[0], "may not be set to 'None' for LoadBalancer services"))
		}
	case corev1.ServiceTypeNodePort:
		if headless(s) {
			errs = append(errs, field.Invalid(servicePath.Child("clusterIPs").Index(0), spec.ClusterIPs[0], "may not be set to 'None' for NodePort services"))
		}
	case corev1.ServiceTypeExternalName:
		if len(spec.ClusterIPs) > 0 {
			errs = append(errs, field.Forbidden(servicePath.Child("clusterIPs"), "may not be set for ExternalName services"))
		}
		if len(spec.IPFamilies) > 0 {
			errs = append(errs, field.Forbidden(servicePath.Child("ipFamilies"), "may not be set for ExternalName services"))
		}
		if spec.IPFamilyPolicy != nil {
			errs = append(errs, field.Forbidden(servicePath.Child("ipFamilyPolicy"), "may not be set for ExternalName services"))
		}
		name := strings.TrimSuffix(spec.ExternalName, ".")
		if name == "" {
			return append(errs, field.Required(servicePath.Child("externalName"), ""))
		}
		errs = append(errs, invalid(servicePath.Child("externalName"), name, validation.IsDNS1123Subdomain(name))...)
	}
	return errs
}

func validateServicePorts(s *corev1.Service, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.Set[string]{}
	for i, p := range s.Spec.Ports {
		at := path.Index(i)
		switch {
		case p.Name == "" && len(s.Spec.Ports) > 1:
			errs = append(errs, field.Required(at.Child("name"), ""))
		case p.Name != "":
			errs = append(errs, invalid(at.Child("name"), p.Name, validation.IsDNS1123Label(p.Name))...)
			if names.Has(p.Name) {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names.Insert(p.Name)
		}
		errs = append(errs, invalid(at.Child("port"), p.Port, validation.IsValidPortNum(int(p.Port)))...)
		errs = append(errs, oneOf(at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
		errs = append(errs, podspec.ValidatePort(p.TargetPort, at.Child("targetPort"))...)
		if p.AppProtocol != nil {
			errs = append(errs, invalid(at.Child("appProtocol"), *p.AppProtocol, validation.IsQualifiedName(*p.AppProtocol))...)
		}
	}
	return errs
}

func validateDuplicatePorts(s *corev1.Service, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	ports, nodePorts := map[key]bool{}, map[key]bool{}
	for i, p := range s.Spec.Ports {
		k := key{p.Protocol, p.Port}
		if ports[k] {
			errs = append(errs, field.Duplicate(path.Index(i), goform.Of(corev1.ServicePort{Protocol: p.Protocol, Port: p.Port})))
		}
		ports[k] = true
		if n := (key{p.Protocol, p.NodePort}); p.NodePort != 0 {
			if nodePorts[n] {
				errs = append(errs, field.Duplicate(path.Index(i).Child("nodePort"), p.NodePort))
			}
			nodePorts[n] = true
		}
	}
	return errs
}

// validateSessionAffinity: how long a client keeps to one pod is told if and only if it does.
func validateSessionAffinity(spec *corev1.ServiceSpec) field.ErrorList {
	path, c := servicePath.Child("sessionAffinityConfig"), spec.SessionAffinityConfig
	if spec.SessionAffinity == corev1.ServiceAffinityNone && c != nil {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("must not be set when session affinity is %s", corev1.ServiceAffinityNone))}
	}
	if spec.SessionAffinity != corev1.ServiceAffinityClientIP {
		return nil
	}
	why := fmt.Sprintf("when session affinity type is %s", corev1.ServiceAffinityClientIP)
	switch {
	case c == nil:
		return field.ErrorList{field.Required(path, why)}
	case c.ClientIP == nil:
		return field.ErrorList{field.Required(path.Child("clientIP"), why)}
	case c.ClientIP.TimeoutSeconds == nil:
		return field.ErrorList{field.Required(path.Child("clientIP", "timeoutSeconds"), why)}
	}
	if t := *c.ClientIP.TimeoutSeconds; t <= 0 || t > maxAffinitySeconds {
		return field.ErrorList{field.Invalid(path.Child("clientIP", "timeoutSeconds"), t, fmt.Sprintf("must be greater than 0 and less than %d", maxAffinitySeconds))}
	}
	return nil
}

func validateTrafficPolicies(s *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	path := servicePath.Child("externalTrafficPolicy")
	switch p := s.Spec.ExternalTrafficPolicy; {
	case external(s):
		errs = append(errs, oneOf(path, p, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	case p != "":
		errs = append(errs, field.Invalid(path, p, "may only be set for externally-accessible services"))
	}
	path = servicePath.Child("healthCheckNodePort")
	switch p := s.Spec.HealthCheckNodePort; {
	case !NeedsHealthCheck(s) && p != 0:
		errs = append(errs, field.Invalid(path, p, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	case NeedsHealthCheck(s) && p == 0:
		errs = append(errs, field.Required(path, ""))
	case NeedsHealthCheck(s):
		errs = append(errs, invalid(path, p, validation.IsValidPortNum(int(p)))...)
	}
	path = servicePath.Child("internalTrafficPolicy")
	switch p := s.Spec.InternalTrafficPolicy; {
	case p == nil && s.Spec.Type != corev1.ServiceTypeExternalName:
		errs = append(errs, field.Required(path, ""))
	case p != nil:
		errs = append(errs, rules.Among(path, *p, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	}
	return errs
}

// validateServiceChange: a Service keeps its address unless it changes from or to a type that has none.
func validateServiceChange(s, old *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	if was, now := old.Spec.ClusterIPs, s.Spec.ClusterIPs; NeedsClusterIP(s) && NeedsClusterIP(old) && len(was) > 0 {
		if len(now) == 0 || now[0] != was[0] {
			errs = append(errs, field.Invalid(servicePath.Child("clusterIPs").Index(0), now, "may not change once set"))
		}
	}
	if was, now := old.Spec.IPFamilies, s.Spec.IPFamilies; NeedsClusterIP(s) && NeedsClusterIP(old) && !headless(s) && !headless(old) && len(was) > 0 && len(now) > 0 && now[0] != was[0] {
		errs = append(errs, field.Invalid(servicePath.Child("ipFamilies").Index(0), now, "may not change once set"))
	}
	if balanced(s) && balanced(old) && !ptr.Equal(s.Spec.LoadBalancerClass, old.Spec.LoadBalancerClass) {
		errs = append(errs, field.Invalid(servicePath.Child("loadBalancerClass"), s.Spec.LoadBalancerClass, "may not change once set"))
	}
	if NeedsHealthCheck(s) && NeedsHealthCheck(old) && s.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort {
		errs = append(errs, field.Forbidden(servicePath.Child("healthCheckNodePort"), "field is immutable"))
	}
	return errs
}
