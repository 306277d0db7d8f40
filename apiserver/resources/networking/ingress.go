package networking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// classAnnotation is how an ingress named its class before it had a field for it.
const classAnnotation = "kubernetes.io/ingress.class"

// Ingress leads requests from outside to services, by host and path.
var Ingress = resource.Define(resource.Kind[*networkingv1.Ingress]{
	Name:  resource.Name{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Plural: "ingresses", Short: []string{"ing"}, Namespaced: true},
	List:  &networkingv1.IngressList{},
	Store: "ingress",
	Strategy: resource.Strategy[*networkingv1.Ingress]{
		PrepareForCreate: func(_ context.Context, i *networkingv1.Ingress) {
			i.Status = networkingv1.IngressStatus{}
			i.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, i, old *networkingv1.Ingress) {
			i.Status = old.Status
			if !equality.Semantic.DeepEqual(i.Spec, old.Spec) {
				i.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, i *networkingv1.Ingress) field.ErrorList {
			errs := validateIngress(&i.Spec, false)
			if class, ok := i.Annotations[classAnnotation]; ok && i.Spec.IngressClassName != nil && class != *i.Spec.IngressClassName {
				errs = append(errs, field.Invalid(field.NewPath("annotations").Child(classAnnotation), class, "must match `ingressClassName` when both are specified"))
			}
			return errs
		},
		ValidateUpdate: func(_ context.Context, i, old *networkingv1.Ingress) field.ErrorList {
			return validateIngress(&i.Spec, hasBadSecret(&old.Spec))
		},
		WarningsOnCreate: func(_ context.Context, i *networkingv1.Ingress) []string {
			if _, ok := i.Annotations[classAnnotation]; ok && i.Spec.IngressClassName == nil {
				return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", classAnnotation)}
			}
			return nil
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*networkingv1.Ingress]{
		PrepareForUpdate: func(_ context.Context, i, old *networkingv1.Ingress) { i.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, i, old *networkingv1.Ingress) field.ErrorList {
			return validateIngressStatus(&i.Status, &old.Status)
		},
		WarningsOnUpdate: func(_ context.Context, i, _ *networkingv1.Ingress) []string {
			var out []string
			for k, e := range i.Status.LoadBalancer.Ingress {
				if e.IP != "" {
					out = append(out, validation.GetWarningsForIP(balancerPath.Index(k), e.IP)...)
				}
			}
			return out
		},
		ResetFields: []string{"spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Class", "string", "The name of the IngressClass resource that should be used for additional configuration"),
		resource.Column("Hosts", "string", "Hosts that incoming requests are matched against before the ingress rule"),
		resource.Column("Address", "string", "Address is a list containing ingress points for the load-balancer"),
		resource.Column("Ports", "string", "Ports of TLS configurations that open"),
		resource.AgeColumn,
	},
	Row: func(i *networkingv1.Ingress) []any {
		ports := "80"
		if len(i.Spec.TLS) > 0 {
			ports = "80, 443"
		}
		return []any{i.Name, ptr.Deref(i.Spec.IngressClassName, "<none>"), hostsText(i.Spec.Rules), balancerText(&i.Status.LoadBalancer), ports, resource.AgeOf(i)}
	},
})

// hostsText names the first three hosts.
func hostsText(rs []networkingv1.IngressRule) string {
	const most = 3
	var all []string
	for _, r := range rs {
		if r.Host != "" {
			all = append(all, r.Host)
		}
	}
	switch {
	case len(all) == 0:
		return "*"
	case len(all) > most:
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], ","), len(all)-most)
	}
	return strings.Join(all, ",")
}

// balancerText names each point of entry, as wide views do.
func balancerText(s *networkingv1.IngressLoadBalancerStatus) string {
	var all []string
	for _, e := range s.Ingress {
		if name := or(e.IP, e.Hostname); name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
