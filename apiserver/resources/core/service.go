package core

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var serviceDocs = corev1.ServiceSpec{}.SwaggerDoc()

// Service is a stable name and address in front of pods. Its addresses and node ports are reserved by the registry's Services.
var Service = resource.Define(resource.Kind[*corev1.Service]{
	Name:    resource.Name{Version: "v1", Kind: "Service", Plural: "services", Short: []string{"svc"}, Categories: []string{"all"}, Namespaced: true},
	List:    &corev1.ServiceList{},
	Store:   "services/specs",
	Default: defaultService,
	Strategy: resource.Strategy[*corev1.Service]{
		PrepareForCreate: func(_ context.Context, s *corev1.Service) { s.Status = corev1.ServiceStatus{} },
		PrepareForUpdate: func(_ context.Context, s, old *corev1.Service) {
			s.Status = old.Status
			if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
				s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
			}
		},
		Validate: func(_ context.Context, s *corev1.Service) field.ErrorList { return validateService(s) },
		ValidateUpdate: func(_ context.Context, s, old *corev1.Service) field.ErrorList {
			return append(validateServiceChange(s, old), validateService(s)...)
		},
		WarningsOnCreate: func(_ context.Context, s *corev1.Service) []string { return serviceWarnings(s) },
		WarningsOnUpdate: func(_ context.Context, s, _ *corev1.Service) []string { return serviceWarnings(s) },
		ResetFields:      []string{"status"},
	},
	Subresources: []resource.Subresource{{Name: "proxy", Verbs: resource.ProxyVerbs, GVK: corev1.SchemeGroupVersion.WithKind("ServiceProxyOptions")}},
	Status: &resource.Strategy[*corev1.Service]{
		PrepareForUpdate: func(_ context.Context, s, old *corev1.Service) { s.Spec = old.Spec },
		ValidateUpdate:   func(_ context.Context, s, _ *corev1.Service) field.ErrorList { return validateIngress(s) },
		ResetFields:      []string{"spec"},
	},
	Fields: map[string]func(*corev1.Service) string{
		"spec.clusterIP": func(s *corev1.Service) string { return s.Spec.ClusterIP },
		"spec.type":      func(s *corev1.Service) string { return string(s.Spec.Type) },
	},
	ValidateName:   apivalidation.NameIsDNSLabel,
	CreateOnUpdate: true,
	ReturnDeleted:  true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Type", "string", serviceDocs["type"]),
		resource.Column("Cluster-IP", "string", serviceDocs["clusterIP"]),
		resource.Column("External-IP", "string", serviceDocs["externalIPs"]),
		resource.Column("Port(s)", "string", serviceDocs["ports"]),
		resource.AgeColumn,
		resource.WideColumn("Selector", "string", serviceDocs["selector"]),
	},
	Row: func(s *corev1.Service) []any {
		ip := "<none>"
		if len(s.Spec.ClusterIPs) > 0 {
			ip = s.Spec.ClusterIPs[0]
		}
		return []any{s.Name, string(s.Spec.Type), ip, externalIP(s), orNone(portText(s.Spec.Ports)), resource.AgeOf(s), labels.FormatLabels(s.Spec.Selector)}
	},
})

// NeedsClusterIP says whether a Service has an address of its own, or says that it has none.
func NeedsClusterIP(s *corev1.Service) bool { return s.Spec.Type != corev1.ServiceTypeExternalName }

// NeedsNodePorts says whether a Service has ports on every node.
func NeedsNodePorts(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort ||
		(s.Spec.Type == corev1.ServiceTypeLoadBalancer && ptr.Deref(s.Spec.AllocateLoadBalancerNodePorts, true))
}

func external(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer || s.Spec.Type == corev1.ServiceTypeNodePort ||
		(s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0)
}

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	if spec.SessionAffinity == "" {
		spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	switch c := spec.SessionAffinityConfig; spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		if c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr.To(corev1.DefaultClientIPServiceAffinitySeconds)}}
		}
	}
	if spec.Type == "" {
		spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range spec.Ports {
		p := &spec.Ports[i]
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if external(s) && spec.ExternalTrafficPolicy == "" {
		spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	}
	if spec.InternalTrafficPolicy == nil && spec.Type != corev1.ServiceTypeExternalName {
		spec.InternalTrafficPolicy = ptr.To(corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		if spec.AllocateLoadBalancerNodePorts == nil {
			spec.AllocateLoadBalancerNodePorts = ptr.To(true)
		}
		for i, in := range s.Status.LoadBalancer.Ingress {
			if in.IP != "" && in.IPMode == nil {
				s.Status.LoadBalancer.Ingress[i].IPMode = ptr.To(corev1.LoadBalancerIPModeVIP)
			}
		}
	}
}

func externalIP(s *corev1.Service) string {
	ips := strings.Join(s.Spec.ExternalIPs, ",")
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return orNone(ips)
	case corev1.ServiceTypeLoadBalancer:
		var all []string
		for _, in := range s.Status.LoadBalancer.Ingress {
			all = append(all, or(in.IP, in.Hostname))
		}
		all = append(all, s.Spec.ExternalIPs...)
		if len(all) == 0 {
			return "<pending>"
		}
		return strings.Join(all, ",")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return "<unknown>"
}

func portText(ports []corev1.ServicePort) string {
	out := make([]string, len(ports))
	for i, p := range ports {
		out[i] = fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.NodePort > 0 {
			out[i] = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
		}
	}
	return strings.Join(out, ",")
}
