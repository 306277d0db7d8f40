package core

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Endpoints lists the addresses behind a Service, in the old form.
var Endpoints = resource.Define(resource.Kind[*corev1.Endpoints]{
	Name:  resource.Name{Version: "v1", Kind: "Endpoints", Plural: "endpoints", Singular: "endpoints", Short: []string{"ep"}, Namespaced: true},
	List:  &corev1.EndpointsList{},
	Store: "services/endpoints",
	Default: func(e *corev1.Endpoints) {
		for i := range e.Subsets {
			for j := range e.Subsets[i].Ports {
				if p := &e.Subsets[i].Ports[j]; p.Protocol == "" {
					p.Protocol = corev1.ProtocolTCP
				}
			}
		}
	},
	Strategy: resource.Strategy[*corev1.Endpoints]{
		Validate:       func(_ context.Context, e *corev1.Endpoints) field.ErrorList { return validateSubsets(e.Subsets) },
		ValidateUpdate: func(_ context.Context, e, _ *corev1.Endpoints) field.ErrorList { return validateSubsets(e.Subsets) },
	},
	ValidateName:   apivalidation.NameIsDNSSubdomain,
	Deprecated:     "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	CreateOnUpdate: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn, resource.Column("Endpoints", "string", corev1.Endpoints{}.SwaggerDoc()["subsets"]), resource.AgeColumn,
	},
	Row: func(e *corev1.Endpoints) []any { return []any{e.Name, endpointsText(e), resource.AgeOf(e)} },
})

// endpointsText shows the first three addresses.
func endpointsText(e *corev1.Endpoints) string {
	if len(e.Subsets) == 0 {
		return "<none>"
	}
	const most = 3
	var list []string
	count := 0
	add := func(s string) {
		if count++; len(list) < most {
			list = append(list, s)
		}
	}
	for _, ss := range e.Subsets {
		for _, a := range ss.Addresses {
			if len(ss.Ports) == 0 {
				add(a.IP)
			}
		}
		for _, p := range ss.Ports {
			for _, a := range ss.Addresses {
				add(joinPort(a.IP, p.Port))
			}
		}
	}
	text := strings.Join(list, ",")
	if count > most {
		text += fmt.Sprintf(" + %d more...", count-most)
	}
	return text
}

func joinPort(ip string, port int32) string {
	if strings.ContainsRune(ip, ':') {
		return fmt.Sprintf("[%s]:%d", ip, port)
	}
	return fmt.Sprintf("%s:%d", ip, port)
}

func validateSubsets(subsets []corev1.EndpointSubset) field.ErrorList {
	var errs field.ErrorList
	for i, ss := range subsets {
		at := field.NewPath("subsets").Index(i)
		if len(ss.Addresses) == 0 && len(ss.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j, a := range ss.Addresses {
			errs = append(errs, validateEndpointAddress(&a, at.Child("addresses").Index(j))...)
		}
		for j, a := range ss.NotReadyAddresses {
			errs = append(errs, validateEndpointAddress(&a, at.Child("notReadyAddresses").Index(j))...)
		}
		for j, p := range ss.Ports {
			errs = append(errs, validateEndpointPort(&p, len(ss.Ports) > 1, at.Child("ports").Index(j))...)
		}
	}
	return errs
}

func validateEndpointAddress(a *corev1.EndpointAddress, p *field.Path) field.ErrorList {
	errs := validation.IsValidIP(p.Child("ip"), a.IP)
	if a.Hostname != "" {
		errs = append(errs, invalid(p.Child("hostname"), a.Hostname, validation.IsDNS1123Label(a.Hostname))...)
	}
	if a.NodeName != nil {
		errs = append(errs, invalid(p.Child("nodeName"), *a.NodeName, apivalidation.NameIsDNSSubdomain(*a.NodeName, false))...)
	}
	return append(errs, ValidateEndpointIP(a.IP, p.Child("ip"))...)
}

// ValidateEndpointIP refuses addresses that lead into the node itself or to nobody in particular.
func ValidateEndpointIP(s string, p *field.Path) field.ErrorList {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return field.ErrorList{field.Invalid(p, s, "must be a valid IP address")}
	}
	var errs field.ErrorList
	for _, bad := range []struct {
		is   bool
		text string
	}{
		{ip.IsUnspecified(), fmt.Sprintf("may not be unspecified (%v)", s)},
		{ip.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{ip.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{ip.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if bad.is {
			errs = append(errs, field.Invalid(p, s, bad.text))
		}
	}
	return errs
}

func validateEndpointPort(port *corev1.EndpointPort, named bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if named && port.Name == "" {
		errs = append(errs, field.Required(p.Child("name"), ""))
	} else if port.Name != "" {
		errs = append(errs, invalid(p.Child("name"), port.Name, validation.IsDNS1123Label(port.Name))...)
	}
	errs = append(errs, invalid(p.Child("port"), port.Port, validation.IsValidPortNum(int(port.Port)))...)
	errs = append(errs, oneOf(p.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	if port.AppProtocol != nil {
		errs = append(errs, invalid(p.Child("appProtocol"), *port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol))...)
	}
	return errs
}
