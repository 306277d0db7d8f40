package admissionregistration

import (
	"fmt"
	"net/url"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// validateClient judges where a webhook is: at a URL or behind a Service.
func validateClient(path *field.Path, c *admissionv1.WebhookClientConfig) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(path, "exactly one of url or service is required")}
	case c.URL != nil:
		return validateURL(path.Child("url"), *c.URL)
	}
	return validateService(path.Child("service"), c.Service)
}

func validateURL(path *field.Path, text string) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(path, "url must be a valid URL: "+err.Error()+form)}
	}
	var errs field.ErrorList
	if u.Scheme != "https" {
		errs = append(errs, field.Invalid(path, u.Scheme, "'https' is the only allowed URL scheme"+form))
	}
	if u.Host == "" {
		errs = append(errs, field.Invalid(path, u.Host, "host must be specified"+form))
	}
	if u.User != nil {
		errs = append(errs, field.Invalid(path, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Fragment != "" {
		errs = append(errs, field.Invalid(path, u.Fragment, "fragments are not permitted in the URL"))
	}
	if u.RawQuery != "" {
		errs = append(errs, field.Invalid(path, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	return errs
}

func validateService(path *field.Path, s *admissionv1.ServiceReference) field.ErrorList {
	errs := rules.Required(path.Child("name"), s.Name)
	errs = append(errs, rules.Required(path.Child("namespace"), s.Namespace)...)
	port := ptr.Deref(s.Port, defaultPort)
	if texts := validation.IsValidPortNum(int(port)); texts != nil {
		errs = append(errs, field.Invalid(path.Child("port"), port, "port is not valid: "+strings.Join(texts, ", ")))
	}
	return append(errs, validateURLPath(path.Child("path"), ptr.Deref(s.Path, ""))...)
}

func validateURLPath(path *field.Path, p string) field.ErrorList {
	switch p {
	case "", "/":
		return nil
	case "//":
		return field.ErrorList{field.Invalid(path, p, "segment[0] may not be empty")}
	}
	var errs field.ErrorList
	if !strings.HasPrefix(p, "/") {
		errs = append(errs, field.Invalid(path, p, "must start with a '/'"))
	}
	for i, step := range strings.Split(strings.TrimSuffix(p[1:], "/"), "/") {
		if step == "" {
			errs = append(errs, field.Invalid(path, p, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, text := range validation.IsDNS1123Subdomain(step) {
			errs = append(errs, field.Invalid(path, p, fmt.Sprintf("segment[%d]: %v", i, text)))
		}
	}
	return errs
}
