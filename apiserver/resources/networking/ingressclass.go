package networking

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// maxController bounds the name of an ingress controller, in bytes.
const maxController = 250

// IngressClass names a controller that ingresses can ask for.
var IngressClass = resource.Define(resource.Kind[*networkingv1.IngressClass]{
	Name:  resource.Name{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass", Plural: "ingressclasses"},
	List:  &networkingv1.IngressClassList{},
	Store: "ingressclasses",
	Default: func(c *networkingv1.IngressClass) {
		if p := c.Spec.Parameters; p != nil && p.Scope == nil {
			p.Scope = ptr.To(networkingv1.IngressClassParametersReferenceScopeCluster)
		}
	},
	Strategy: resource.Strategy[*networkingv1.IngressClass]{
		PrepareForCreate: func(_ context.Context, c *networkingv1.IngressClass) { c.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, c, old *networkingv1.IngressClass) {
			if !equality.Semantic.DeepEqual(c.Spec, old.Spec) {
				c.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, c *networkingv1.IngressClass) field.ErrorList { return validateClass(&c.Spec) },
		ValidateUpdate: func(_ context.Context, c, old *networkingv1.IngressClass) field.ErrorList {
			return append(rules.Immutable(specPath.Child("controller"), c.Spec.Controller, old.Spec.Controller), validateClass(&c.Spec)...)
		},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Controller", "string", "Controller that is responsible for handling this class"),
		resource.Column("Parameters", "string", "A reference to a resource with additional parameters"),
		resource.AgeColumn,
	},
	Row: func(c *networkingv1.IngressClass) []any {
		name, parameters := c.Name, "<none>"
		if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			name += " (default)"
		}
		if p := c.Spec.Parameters; p != nil {
			parameters = p.Kind
			if p.APIGroup != nil {
				parameters += "." + *p.APIGroup
			}
			parameters += "/" + p.Name
		}
		return []any{name, c.Spec.Controller, parameters, resource.AgeOf(c)}
	},
})

func validateClass(s *networkingv1.IngressClassSpec) field.ErrorList {
	path := specPath.Child("controller")
	var errs field.ErrorList
	if len(s.Controller) > maxController {
		errs = append(errs, field.TooLong(path, "", maxController))
	}
	errs = append(errs, validation.IsDomainPrefixedPath(path, s.Controller)...)
	if s.Parameters != nil {
		errs = append(errs, validateParameters(s.Parameters, specPath.Child("parameters"))...)
	}
	return errs
}

func validateParameters(p *networkingv1.IngressClassParametersReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if g := p.APIGroup; g != nil {
		errs = append(errs, rules.Invalid(path.Child("apiGroup"), *g, validation.IsDNS1123Subdomain(*g))...)
	}
	errs = append(errs, segment(p.Kind, path.Child("kind"))...)
	errs = append(errs, segment(p.Name, path.Child("name"))...)
	at := path.Child("namespace")
	switch ptr.Deref(p.Scope, "") {
	case networkingv1.IngressClassParametersReferenceScopeNamespace:
		if p.Namespace == nil {
			return append(errs, field.Required(at, "`parameters.scope` is set to 'Namespace'"))
		}
		return append(errs, rules.Invalid(at, *p.Namespace, apivalidation.ValidateNamespaceName(*p.Namespace, false))...)
	case networkingv1.IngressClassParametersReferenceScopeCluster:
		if p.Namespace != nil {
			errs = append(errs, field.Forbidden(at, "`parameters.scope` is set to 'Cluster'"))
		}
		return errs
	}
	if p.Scope == nil {
		return append(errs, field.Required(path.Child("scope"), ""))
	}
	return append(errs, field.NotSupported(path.Child("scope"), *p.Scope, []string{networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace}))
}
