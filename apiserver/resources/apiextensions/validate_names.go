package apiextensions

import (
	"net/url"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// validateRequiredNames: a status may lack them, a spec may not.
func validateRequiredNames(n *apiextensions.CustomResourceDefinitionNames, path *field.Path) field.ErrorList {
	errs := rules.Required(path.Child("plural"), n.Plural)
	errs = append(errs, rules.Required(path.Child("singular"), n.Singular)...)
	errs = append(errs, rules.Required(path.Child("kind"), n.Kind)...)
	return append(errs, rules.Required(path.Child("listKind"), n.ListKind)...)
}

// label demands a DNS label of what is given; prefix stands before what is wrong with it.
func label(path *field.Path, value, judged, prefix string) field.ErrorList {
	if bad := validation.IsDNS1035Label(judged); len(bad) > 0 {
		return field.ErrorList{field.Invalid(path, value, prefix+strings.Join(bad, ","))}
	}
	return nil
}

func validateNames(n *apiextensions.CustomResourceDefinitionNames, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	given := func(child, value, judged, prefix string) {
		if value != "" {
			errs = append(errs, label(path.Child(child), value, judged, prefix)...)
		}
	}
	const mixed = "may have mixed case, but should otherwise match: "
	given("plural", n.Plural, n.Plural, "")
	given("singular", n.Singular, n.Singular, "")
	given("kind", n.Kind, strings.ToLower(n.Kind), mixed)
	given("listKind", n.ListKind, strings.ToLower(n.ListKind), mixed)
	for i, s := range n.ShortNames {
		errs = append(errs, label(path.Child("shortNames").Index(i), s, s, "")...)
	}
	if n.Kind != "" && n.Kind == n.ListKind {
		errs = append(errs, field.Invalid(path.Child("listKind"), n.ListKind, "kind and listKind may not be the same"))
	}
	for i, c := range n.Categories {
		errs = append(errs, label(path.Child("categories").Index(i), c, c, "")...)
	}
	return errs
}

// Approval is whether a definition in one of the community's own groups says who approved it.
type Approval int

// The approvals. Unprotected: the group is nobody's but its owner's.
const (
	Unprotected Approval = iota
	Invalid
	Approved
	Bypassed
	Missing
)

// ApprovalOf reads the annotation, and says in upstream's words what it means.
func ApprovalOf(group string, annotations map[string]string) (Approval, string) {
	const name, see = apiextensionsv1.KubeAPIApprovedAnnotation, ", see https://github.com/kubernetes/enhancements/pull/1111"
	protected := false
	for _, g := range []string{"k8s.io", "kubernetes.io"} {
		protected = protected || group == g || strings.HasSuffix(group, "."+g)
	}
	value := annotations[name]
	u, err := url.ParseRequestURI(value)
	switch {
	case !protected:
		return Unprotected, ""
	case value == "":
		return Missing, `protected groups must have approval annotation "` + name + `"` + see
	case strings.HasPrefix(value, "unapproved"):
		return Bypassed, "not approved: " + quoted(value)
	case err == nil && u.Host != "" && u.Scheme != "":
		return Approved, "approved in " + value
	}
	return Invalid, `protected groups must have approval annotation "` + name + `" with either a URL or a reason starting with "unapproved"` + see
}

// validateApproval demands the annotation of a protected group's definition, unless it lacked it before.
func validateApproval(d, old *apiextensions.CustomResourceDefinition) field.ErrorList {
	now, why := ApprovalOf(d.Spec.Group, d.Annotations)
	if old != nil {
		if before, _ := ApprovalOf(d.Spec.Group, old.Annotations); before == now {
			return nil
		}
	}
	path := metaPath.Child("annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	switch now {
	case Invalid:
		return field.ErrorList{field.Invalid(path, d.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], why)}
	case Missing:
		return field.ErrorList{field.Required(path, why)}
	case Unprotected, Approved, Bypassed:
	}
	return nil
}
