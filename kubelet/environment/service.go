package environment

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Services picks those of all Services that a pod learns of: the API's own always, those of its namespace when it
// wants links. Headless ones have no address to tell.
func Services(all []*v1.Service, namespace string, links bool) []*v1.Service {
	chosen := map[string]*v1.Service{}
	for _, service := range all {
		if service.Spec.ClusterIP == "" || service.Spec.ClusterIP == v1.ClusterIPNone {
			continue
		}
		isAPI := service.Namespace == metav1.NamespaceDefault && service.Name == "kubernetes"
		switch {
		case service.Namespace == namespace && (links || isAPI):
			chosen[service.Name] = service // one of its own comes before the API's of that name
		case isAPI && chosen[service.Name] == nil:
			chosen[service.Name] = service
		}
	}
	list := make([]*v1.Service, 0, len(chosen))
	for _, service := range chosen {
		list = append(list, service)
	}
	slices.SortFunc(list, func(a, b *v1.Service) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// serviceVariables tells of Services in the two ways that exist: NAME_SERVICE_HOST and NAME_SERVICE_PORT, and
// Docker's links NAME_PORT_80_TCP_ADDR and so on.
func serviceVariables(services []*v1.Service) []Variable {
	var variables []Variable
	for _, service := range services {
		if len(service.Spec.Ports) == 0 {
			continue
		}
		prefix := variableName(service.Name)
		variables = append(variables,
			Variable{prefix + "_SERVICE_HOST", service.Spec.ClusterIP},
			Variable{prefix + "_SERVICE_PORT", strconv.Itoa(int(service.Spec.Ports[0].Port))})
		for _, port := range service.Spec.Ports {
			if port.Name != "" {
				variables = append(variables, Variable{prefix + "_SERVICE_PORT_" + variableName(port.Name), strconv.Itoa(int(port.Port))})
			}
		}
		for i, port := range service.Spec.Ports {
			variables = append(variables, linkVariables(prefix, service.Spec.ClusterIP, port, i == 0)...)
		}
	}
	return variables
}

func linkVariables(prefix, address string, port v1.ServicePort, first bool) []Variable {
	protocol := port.Protocol
	if protocol == "" {
		protocol = v1.ProtocolTCP
	}
	number := strconv.Itoa(int(port.Port))
	target := fmt.Sprintf("%s://%s", strings.ToLower(string(protocol)), net.JoinHostPort(address, number))
	var variables []Variable
	if first {
		variables = append(variables, Variable{prefix + "_PORT", target})
	}
	name := fmt.Sprintf("%s_PORT_%s_%s", prefix, number, protocol)
	return append(variables, Variable{name, target},
		Variable{name + "_PROTO", strings.ToLower(string(protocol))},
		Variable{name + "_PORT", number},
		Variable{name + "_ADDR", address})
}

func variableName(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
