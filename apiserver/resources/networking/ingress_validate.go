package networking

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var (
	specPath     = field.NewPath("spec")
	balancerPath = field.NewPath("status", "loadBalancer", "ingress")
)

// validateIngress judges a spec; badSecrets allows names of secrets that were bad before.
func validateIngress(s *networkingv1.IngressSpec, badSecrets bool) field.ErrorList {
	var errs field.ErrorList
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		errs = append(errs, field.Invalid(specPath, s.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if s.DefaultBackend != nil {
		errs = append(errs, validateBackend(s.DefaultBackend, specPath.Child("defaultBackend"))...)
	}
	for i := range s.Rules {
		errs = append(errs, validateRule(&s.Rules[i], specPath.Child("rules").Index(i))...)
	}
	for i, t := range s.TLS {
		path := specPath.Child("tls").Index(i)
		for k, host := range t.Hosts {
			errs = append(errs, validateHost(host, path.Child("hosts").Index(k))...)
		}
		if !badSecrets {
			errs = append(errs, rules.Invalid(path.Child("secretName"), t.SecretName, secretName(t.SecretName))...)
		}
	}
	if c := s.IngressClassName; c != nil {
		errs = append(errs, rules.Invalid(specPath.Child("ingressClassName"), *c, apivalidation.NameIsDNSSubdomain(*c, false))...)
	}
	return errs
}

func secretName(name string) []string {
	if name == "" {
		return nil
	}
	return apivalidation.NameIsDNSSubdomain(name, false)
}

func hasBadSecret(s *networkingv1.IngressSpec) bool {
	return slices.ContainsFunc(s.TLS, func(t networkingv1.IngressTLS) bool { return len(secretName(t.SecretName)) > 0 })
}

func validateHost(host string, path *field.Path) field.ErrorList {
	if strings.Contains(host, "*") {
		return rules.Invalid(path, host, validation.IsWildcardDNS1123Subdomain(host))
	}
	return rules.Invalid(path, host, validation.IsDNS1123Subdomain(host))
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func validateRule(r *networkingv1.IngressRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Host != "" {
		if isIP(r.Host) {
			errs = append(errs, field.Invalid(path.Child("host"), r.Host, "must be a DNS name, not an IP address"))
		}
		errs = append(errs, validateHost(r.Host, path.Child("host"))...)
	}
	if r.HTTP == nil {
		return errs
	}
	at := path.Child("http", "paths")
	if len(r.HTTP.Paths) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	for i := range r.HTTP.Paths {
		errs = append(errs, validatePath(&r.HTTP.Paths[i], at.Index(i))...)
	}
	return errs
}

// What a path that is compared part by part must not have in it, or at its end.
var (
	badParts = []string{"//", "/./", "/../", "%2f", "%2F"}
	badEnds  = []string{"/..", "/."}
)

func validatePath(p *networkingv1.HTTPIngressPath, path *field.Path) field.ErrorList {
	if p.PathType == nil {
		return field.ErrorList{field.Required(path.Child("pathType"), "pathType must be specified")}
	}
	var errs field.ErrorList
	at := path.Child("path")
	absolute := strings.HasPrefix(p.Path, "/")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !absolute {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
		for _, bad := range badParts {
			if strings.Contains(p.Path, bad) {
				errs = append(errs, field.Invalid(at, p.Path, fmt.Sprintf("must not contain '%s'", bad)))
			}
		}
		for _, bad := range badEnds {
			if strings.HasSuffix(p.Path, bad) {
				errs = append(errs, field.Invalid(at, p.Path, fmt.Sprintf("cannot end with '%s'", bad)))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !absolute {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
	default:
		all := []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix}
		errs = append(errs, field.NotSupported(path.Child("pathType"), *p.PathType, all))
	}
	return append(errs, validateBackend(&p.Backend, path.Child("backend"))...)
}

// validateBackend: a service's port or another object, not both.
func validateBackend(b *networkingv1.IngressBackend, path *field.Path) field.ErrorList {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(path, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return validateLocalReference(b.Resource, path.Child("resource"))
	case b.Service == nil:
		return field.ErrorList{field.Invalid(path, "", "resource or service backend is required")}
	}
	s, at := b.Service, path.Child("service")
	errs := rules.Required(at.Child("name"), s.Name)
	if s.Name != "" {
		errs = append(errs, rules.Invalid(at.Child("name"), s.Name, apivalidation.NameIsDNSLabel(s.Name, false))...)
	}
	switch {
	case s.Port.Name != "" && s.Port.Number != 0:
		errs = append(errs, field.Invalid(path, "", "cannot set both port name & port number"))
	case s.Port.Name != "":
		errs = append(errs, rules.Invalid(at.Child("port", "name"), s.Port.Name, validation.IsValidPortName(s.Port.Name))...)
	case s.Port.Number != 0:
		errs = append(errs, rules.Invalid(at.Child("port", "number"), s.Port.Number, validation.IsValidPortNum(int(s.Port.Number)))...)
	default:
		errs = append(errs, field.Required(path, "port name or number is required"))
	}
	return errs
}

func validateLocalReference(r *corev1.TypedLocalObjectReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if g := r.APIGroup; g != nil {
		errs = append(errs, rules.Invalid(path.Child("apiGroup"), *g, validation.IsDNS1123Subdomain(*g))...)
	}
	errs = append(errs, segment(r.Kind, path.Child("kind"))...)
	return append(errs, segment(r.Name, path.Child("name"))...)
}

// segment demands a name that fits into a path.
func segment(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return rules.Invalid(path, name, content.IsPathSegmentName(name))
}

func validateIngressStatus(s, old *networkingv1.IngressStatus) field.ErrorList {
	var before []string
	for _, e := range old.LoadBalancer.Ingress {
		before = append(before, e.IP)
	}
	var errs field.ErrorList
	for i, e := range s.LoadBalancer.Ingress {
		path := balancerPath.Index(i)
		if e.IP != "" {
			errs = append(errs, validation.IsValidIPForLegacyField(path.Child("ip"), e.IP, true, before)...)
		}
		if e.Hostname != "" {
			errs = append(errs, rules.Invalid(path.Child("hostname"), e.Hostname, validation.IsDNS1123Subdomain(e.Hostname))...)
			if isIP(e.Hostname) {
				errs = append(errs, field.Invalid(path.Child("hostname"), e.Hostname, "must be a DNS name, not an IP address"))
			}
		}
	}
	return errs
}
