package apiextensions

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/transport"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// reviewVersions are the versions of ConversionReview that are spoken.
var reviewVersions = []string{"v1", "v1beta1"}

func knownReview(v string) bool { return slices.Contains(reviewVersions, v) }

func quoted(s string) string { return strconv.Quote(s) }

func (j judgement) conversion(c *apiextensions.CustomResourceConversion, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	errs := enum(path.Child("strategy"), string(c.Strategy), string(apiextensions.NoneConverter), string(apiextensions.WebhookConverter))
	client, versions := path.Child("webhookClientConfig"), path.Child("conversionReviewVersions")
	if c.Strategy != apiextensions.WebhookConverter {
		const why = "should not be set when strategy is not set to Webhook"
		if c.WebhookClientConfig != nil {
			errs = append(errs, field.Forbidden(client, why))
		}
		if len(c.ConversionReviewVersions) > 0 {
			errs = append(errs, field.Forbidden(versions, why))
		}
		return errs
	}
	if c.WebhookClientConfig == nil {
		errs = append(errs, field.Required(client, "required when strategy is set to Webhook"))
	} else {
		errs = append(errs, j.webhook(c.WebhookClientConfig, client)...)
	}
	return append(errs, j.reviews(c.ConversionReviewVersions, versions)...)
}

func (j judgement) webhook(c *apiextensions.WebhookClientConfig, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case (c.URL == nil) == (c.Service == nil):
		errs = append(errs, field.Required(path, "exactly one of url or service is required"))
	case c.URL != nil:
		errs = append(errs, validateURL(*c.URL, path.Child("url"))...)
	default:
		errs = append(errs, validateService(c.Service, path.Child("service"))...)
	}
	if j.caBundle {
		if err := BadBundle(c.CABundle); err != nil {
			errs = append(errs, field.Invalid(path.Child("caBundle"), c.CABundle, err.Error()))
		}
	}
	return errs
}

// BadBundle says what is wrong with certificates; nothing is nothing wrong.
func BadBundle(bundle []byte) error {
	_, err := transport.TLSConfigFor(&transport.Config{TLS: transport.TLSConfig{CAData: bundle}})
	return err
}

func hasBadBundle(c *apiextensions.CustomResourceConversion) bool {
	return c != nil && c.WebhookClientConfig != nil && BadBundle(c.WebhookClientConfig.CABundle) != nil
}

func (j judgement) reviews(versions []string, path *field.Path) field.ErrorList {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(path.Index(i), v, "duplicate version"))
			continue
		}
		errs = append(errs, rules.Invalid(path.Index(i), v, validation.IsDNS1035Label(v))...)
	}
	if j.reviewVersions && !slices.ContainsFunc(versions, knownReview) {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of "+strings.Join(reviewVersions, ", ")))
	}
	return errs
}

func validateURL(text string, path *field.Path) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(path, "url must be a valid URL: "+err.Error()+form)}
	}
	var errs field.ErrorList
	refuse := func(bad bool, value, why string) {
		if bad {
			errs = append(errs, field.Invalid(path, value, why))
		}
	}
	refuse(u.Scheme != "https", u.Scheme, "'https' is the only allowed URL scheme"+form)
	refuse(u.Host == "", u.Host, "host must be specified"+form)
	refuse(u.User != nil, u.User.String(), "user information is not permitted in the URL")
	refuse(u.Fragment != "", u.Fragment, "fragments are not permitted in the URL")
	refuse(u.RawQuery != "", u.RawQuery, "query parameters are not permitted in the URL")
	return errs
}

// validateService judges where a webhook is. That name and namespace change places is upstream's doing.
func validateService(s *apiextensions.ServiceReference, path *field.Path) field.ErrorList {
	errs := rules.Required(path.Child("name"), s.Namespace)
	errs = append(errs, rules.Required(path.Child("namespace"), s.Name)...)
	if bad := validation.IsValidPortNum(int(s.Port)); bad != nil {
		errs = append(errs, field.Invalid(path.Child("port"), s.Port, "port is not valid: "+strings.Join(bad, ", ")))
	}
	if s.Path == nil || *s.Path == "" || *s.Path == "/" {
		return errs
	}
	return append(errs, validateURLPath(*s.Path, path.Child("path"))...)
}

func validateURLPath(text string, path *field.Path) field.ErrorList {
	if text == "//" {
		return field.ErrorList{field.Invalid(path, text, "segment[0] may not be empty")}
	}
	var errs field.ErrorList
	if !strings.HasPrefix(text, "/") {
		errs = append(errs, field.Invalid(path, text, "must start with a '/'"))
	}
	for i, step := range strings.Split(strings.TrimSuffix(text[1:], "/"), "/") {
		if step == "" {
			errs = append(errs, field.Invalid(path, text, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, bad := range validation.IsDNS1123Subdomain(step) {
			errs = append(errs, field.Invalid(path, text, fmt.Sprintf("segment[%d]: %v", i, bad)))
		}
	}
	return errs
}
