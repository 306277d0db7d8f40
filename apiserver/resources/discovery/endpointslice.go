package discovery

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

const (
	maxEndpoints = 1000
	maxAddresses = 100
	maxPorts     = 20_000
)

var docs = discoveryv1.EndpointSlice{}.SwaggerDoc()

// EndpointSlice is a part of the addresses behind a Service.
var EndpointSlice = resource.Define(resource.Kind[*discoveryv1.EndpointSlice]{
	Name:  resource.Name{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Plural: "endpointslices", Namespaced: true},
	List:  &discoveryv1.EndpointSliceList{},
	Store: "endpointslices",
	Default: func(s *discoveryv1.EndpointSlice) {
		for i := range s.Ports {
			p := &s.Ports[i]
			if p.Name == nil {
				p.Name = ptr.To("")
			}
			if p.Protocol == nil {
				p.Protocol = ptr.To(corev1.ProtocolTCP)
			}
		}
	},
	Strategy: resource.Strategy[*discoveryv1.EndpointSlice]{
		PrepareForCreate: func(_ context.Context, s *discoveryv1.EndpointSlice) { s.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, s, old *discoveryv1.EndpointSlice) {
			if !equality.Semantic.DeepEqual(s.Labels, old.Labels) || s.AddressType != old.AddressType ||
				!equality.Semantic.DeepEqual(s.Endpoints, old.Endpoints) || !equality.Semantic.DeepEqual(s.Ports, old.Ports) {
				s.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, s *discoveryv1.EndpointSlice) field.ErrorList { return validate(s) },
		ValidateUpdate: func(_ context.Context, s, old *discoveryv1.EndpointSlice) field.ErrorList {
			return append(validate(s), apivalidation.ValidateImmutableField(s.AddressType, old.AddressType, field.NewPath("addressType"))...)
		},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn, resource.Column("AddressType", "string", docs["addressType"]), resource.Column("Ports", "string", docs["ports"]),
		resource.Column("Endpoints", "string", docs["endpoints"]), resource.AgeColumn,
	},
	Row: func(s *discoveryv1.EndpointSlice) []any {
		return []any{s.Name, string(s.AddressType), portsText(s.Ports), endpointsText(s.Endpoints), resource.AgeOf(s)}
	},
})

func portsText(ports []discoveryv1.EndpointPort) string {
	var all []string
	for _, p := range ports {
		switch {
		case p.Port != nil:
			all = append(all, strconv.Itoa(int(*p.Port)))
		case p.Name != nil:
			all = append(all, *p.Name)
		default:
			all = append(all, "*")
		}
	}
	return some(all)
}

func endpointsText(es []discoveryv1.Endpoint) string {
	var all []string
	for _, e := range es {
		all = append(all, e.Addresses...)
	}
	return some(all)
}

// some shows the first three of a list.
func some(all []string) string {
	const most = 3
	switch {
	case len(all) == 0:
		return "<unset>"
	case len(all) > most:
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], ","), len(all)-most)
	}
	return strings.Join(all, ",")
}

func invalid(path *field.Path, value any, texts []string) field.ErrorList {
	var errs field.ErrorList
	for _, t := range texts {
		errs = append(errs, field.Invalid(path, value, t))
	}
	return errs
}

func validate(s *discoveryv1.EndpointSlice) field.ErrorList {
	types := []discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
	var errs field.ErrorList
	switch {
	case s.AddressType == "":
		errs = append(errs, field.Required(field.NewPath("addressType"), ""))
	case !slices.Contains(types, s.AddressType):
		errs = append(errs, field.NotSupported(field.NewPath("addressType"), s.AddressType, types))
	}
	errs = append(errs, validatePorts(s.Ports, field.NewPath("ports"))...)
	path := field.NewPath("endpoints")
	if len(s.Endpoints) > maxEndpoints {
		return append(errs, field.TooMany(path, len(s.Endpoints), maxEndpoints))
	}
	for i := range s.Endpoints {
		errs = append(errs, validateEndpoint(&s.Endpoints[i], s.AddressType, path.Index(i))...)
	}
	return errs
}

func validatePorts(ports []discoveryv1.EndpointPort, path *field.Path) field.ErrorList {
	if len(ports) > maxPorts {
		return field.ErrorList{field.TooMany(path, len(ports), maxPorts)}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, p := range ports {
		at, name := path.Index(i), ptr.Deref(p.Name, "")
		if name != "" {
			errs = append(errs, invalid(at.Child("name"), name, validation.IsDNS1123Label(name))...)
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		seen[name] = true
		protocols := []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}
		if p.Protocol == nil {
			errs = append(errs, field.Required(at.Child("protocol"), ""))
		} else if !slices.Contains(protocols, *p.Protocol) {
			errs = append(errs, field.NotSupported(at.Child("protocol"), *p.Protocol, protocols))
		}
		if p.AppProtocol != nil {
			errs = append(errs, invalid(at.Child("appProtocol"), *p.AppProtocol, validation.IsQualifiedName(*p.AppProtocol))...)
		}
	}
	return errs
}

func validateEndpoint(e *discoveryv1.Endpoint, t discoveryv1.AddressType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("addresses")
	switch n := len(e.Addresses); {
	case n == 0:
		errs = append(errs, field.Required(at, "must contain at least 1 address"))
	case n > maxAddresses:
		errs = append(errs, field.TooMany(at, n, maxAddresses))
	}
	for i, a := range e.Addresses {
		errs = append(errs, validateAddress(a, t, at, at.Index(i))...)
	}
	if e.NodeName != nil {
		errs = append(errs, invalid(path.Child("nodeName"), *e.NodeName, apivalidation.NameIsDNSSubdomain(*e.NodeName, false))...)
	}
	if e.Hostname != nil {
		errs = append(errs, invalid(path.Child("hostname"), *e.Hostname, validation.IsDNS1123Label(*e.Hostname))...)
	}
	return errs
}

func validateAddress(a string, t discoveryv1.AddressType, list, at *field.Path) field.ErrorList {
	if t == discoveryv1.AddressTypeFQDN {
		return validation.IsFullyQualifiedDomainName(at, a)
	}
	if errs := validation.IsValidIP(at, a); len(errs) > 0 {
		return errs
	}
	ip, err := netip.ParseAddr(a)
	var errs field.ErrorList
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, a, err.Error())}
	case t == discoveryv1.AddressTypeIPv4 && !ip.Is4():
		errs = append(errs, field.Invalid(list, a, "must be an IPv4 address"))
	case t == discoveryv1.AddressTypeIPv6 && !ip.Is6():
		errs = append(errs, field.Invalid(list, a, "must be an IPv6 address"))
	}
	return append(errs, core.ValidateEndpointIP(a, at)...)
}
