package networking

import (
	"context"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// IPAddress says who holds an address; the address is its name.
var IPAddress = resource.Define(resource.Kind[*networkingv1.IPAddress]{
	Name:  resource.Name{Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress", Plural: "ipaddresses", Short: []string{"ip"}},
	List:  &networkingv1.IPAddressList{},
	Store: "ipaddresses",
	Strategy: resource.Strategy[*networkingv1.IPAddress]{
		Validate: func(_ context.Context, a *networkingv1.IPAddress) field.ErrorList {
			return validateParent(a.Spec.ParentRef)
		},
		ValidateUpdate: func(_ context.Context, a, old *networkingv1.IPAddress) field.ErrorList {
			return append(validateParent(a.Spec.ParentRef), rules.Immutable(specPath.Child("parentRef"), a.Spec.ParentRef, old.Spec.ParentRef)...)
		},
	},
	ValidateName: func(name string, _ bool) []string {
		var texts []string
		for _, err := range validation.IsValidIP(&field.Path{}, name) {
			texts = append(texts, err.Detail)
		}
		return texts
	},
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("ParentRef", "string", networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"]),
	},
	// Upstream gives an age that it has no column for.
	Row: func(a *networkingv1.IPAddress) []any {
		return []any{a.Name, parentText(a.Spec.ParentRef), resource.AgeOf(a)}
	},
})

func parentText(p *networkingv1.ParentReference) string {
	if p == nil {
		return "<none>"
	}
	text := strings.ToLower(schema.GroupResource{Group: p.Group, Resource: p.Resource}.String())
	if p.Namespace != "" {
		text += "/" + p.Namespace
	}
	return text + "/" + p.Name
}

func validateParent(p *networkingv1.ParentReference) field.ErrorList {
	path := specPath.Child("parentRef")
	if p == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	if p.Group != "" {
		errs = append(errs, rules.Invalid(path.Child("group"), p.Group, validation.IsDNS1123Subdomain(p.Group))...)
	}
	errs = append(errs, segment(p.Resource, path.Child("resource"))...)
	errs = append(errs, segment(p.Name, path.Child("name"))...)
	if p.Namespace != "" {
		errs = append(errs, segment(p.Namespace, path.Child("namespace"))...)
	}
	return errs
}
