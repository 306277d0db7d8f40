package admissionregistration

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// validateParamKind judges the kind of objects that a policy takes as parameters.
func validateParamKind(path *field.Path, k *admissionv1.ParamKind) field.ErrorList {
	errs := validateParamVersion(path.Child("apiVersion"), k.APIVersion)
	if k.Kind == "" {
		return append(errs, field.Required(path.Child("kind"), ""))
	}
	if texts := validation.IsDNS1035Label(strings.ToLower(k.Kind)); len(texts) > 0 {
		errs = append(errs, field.Invalid(path.Child("kind"), k.Kind, "may have mixed case, but should otherwise match: "+strings.Join(texts, ",")))
	}
	return errs
}

func validateParamVersion(path *field.Path, text string) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	group, version, err := splitVersion(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	var errs field.ErrorList
	if group != "" {
		if texts := validation.IsDNS1123Subdomain(group); len(texts) > 0 {
			errs = append(errs, field.Invalid(path, group, strings.Join(texts, ",")))
		}
	}
	if version == "" {
		return append(errs, field.Invalid(path, text, "version must be specified"))
	}
	if texts := validation.IsDNS1035Label(version); len(texts) > 0 {
		errs = append(errs, field.Invalid(path, version, strings.Join(texts, ",")))
	}
	return errs
}

func splitVersion(text string) (group, version string, err error) {
	switch strings.Count(text, "/") {
	case 0:
		return "", text, nil
	case 1:
		group, version, _ = strings.Cut(text, "/")
		return group, version, nil
	}
	return "", "", fmt.Errorf("unexpected GroupVersion string: %v", text)
}

// validateParamRef judges which objects a binding gives a policy as parameters.
func validateParamRef(path *field.Path, r *admissionv1.ParamRef) field.ErrorList {
	if r == nil {
		return nil
	}
	const exclusive = "name and selector are mutually exclusive"
	var errs field.ErrorList
	if r.Name != "" {
		errs = append(errs, rules.Invalid(path.Child("name"), r.Name, content.IsPathSegmentName(r.Name))...)
		if r.Selector != nil {
			errs = append(errs, field.Forbidden(path.Child("name"), exclusive))
		}
	}
	if r.Selector != nil {
		errs = append(errs, rules.Selector(path.Child("selector"), r.Selector)...)
		if r.Name != "" {
			errs = append(errs, field.Forbidden(path.Child("selector"), exclusive))
		}
	}
	if r.Name == "" && r.Selector == nil {
		errs = append(errs, field.Required(path, "one of name or selector must be specified"))
	}
	action := path.Child("parameterNotFoundAction")
	if a := r.ParameterNotFoundAction; a == nil || *a == "" {
		errs = append(errs, field.Required(action, ""))
	} else if *a != admissionv1.DenyAction && *a != admissionv1.AllowAction {
		errs = append(errs, field.NotSupported(action, a, []string{string(admissionv1.DenyAction), string(admissionv1.AllowAction)}))
	}
	return errs
}

// paramRefText is how tables show a reference.
func paramRefText(r *admissionv1.ParamRef) string {
	switch {
	case r == nil:
	case r.Name != "" && r.Namespace != "":
		return r.Namespace + "/" + r.Name
	case r.Name != "":
		return "*/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return "<unset>"
}

// paramKindText is how tables show a kind.
func paramKindText(k *admissionv1.ParamKind) string {
	if k == nil {
		return "<unset>"
	}
	return k.APIVersion + "/" + k.Kind
}
