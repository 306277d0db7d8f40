package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Longest parts of a signer's name: a domain, and the name of an object with its namespace's.
const (
	maxDomain = validation.DNS1123SubdomainMaxLength
	maxPath   = validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 1
	maxSigner = maxDomain + maxPath + 1
)

// Signer demands a name such as example.com/signer-name.
func Signer(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	domain, rest, found := strings.Cut(name, "/")
	if !found || strings.Contains(rest, "/") {
		return field.ErrorList{field.Invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	if len(domain) > maxDomain {
		errs = append(errs, field.TooLong(path, "", maxDomain))
	}
	errs = append(errs, firstBad(domain, path, validation.IsDNS1123Label)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(path, domain, "should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, firstBad(rest, path, validation.IsDNS1123Subdomain)...)
	if len(rest) > maxPath {
		errs = append(errs, field.TooLong(path, "", maxPath))
	}
	if len(name) > maxSigner {
		errs = append(errs, field.TooLong(path, "", maxSigner))
	}
	return errs
}

// firstBad judges labels between dots, and stops at the first that is bad.
func firstBad(name string, path *field.Path, rule func(string) []string) field.ErrorList {
	var errs field.ErrorList
	for _, label := range strings.Split(name, ".") {
		for _, text := range rule(label) {
			errs = append(errs, field.Invalid(path, name, fmt.Sprintf("validating label %q: %s", label, text)))
		}
		if len(errs) > 0 {
			return errs
		}
	}
	return nil
}

// SystemSigner says whether a signer is the system's own.
func SystemSigner(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	return host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io")
}
