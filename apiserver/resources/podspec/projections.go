package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Bounds of how long a pod's certificate is valid, in seconds: an hour, 91 days, and a day where Kubernetes' own signers sign.
const (
	minCertificate       = 3600
	maxCertificate       = 91 * 86400
	maxSystemCertificate = 86400
)

var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

// newPath judges where in the volume a file goes; no two files may go to one place.
func newPath(v string, taken sets.Set[string], volume, p *field.Path) field.ErrorList {
	errs := localName(v, p)
	if taken.Has(v) {
		errs = append(errs, field.Invalid(volume, v, "conflicting duplicate paths"))
	}
	taken.Insert(v)
	return errs
}

// validateTrustBundle judges a projection of trust anchors: of one bundle, or of all of a signer's.
func validateTrustBundle(b *corev1.ClusterTrustBundleProjection, taken sets.Set[string], volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case b.Name != nil && b.SignerName != nil:
		errs = append(errs, field.Invalid(p, b, "only one of name and signerName may be used"))
	case b.Name != nil:
		if *b.Name == "" {
			errs = append(errs, field.Required(p.Child("name"), "must be a valid object name"))
		}
		for _, text := range bundleName(*b.Name) {
			errs = append(errs, field.Invalid(p.Child("name"), *b.Name, "not a valid clustertrustbundlename: "+text))
		}
		if b.LabelSelector != nil {
			errs = append(errs, field.Invalid(p.Child("labelSelector"), b.LabelSelector, "labelSelector must be unset if name is specified"))
		}
	case b.SignerName != nil:
		if *b.SignerName == "" {
			errs = append(errs, field.Required(p.Child("signerName"), "must be a valid signer name"))
		}
		errs = append(errs, rules.Signer(*b.SignerName, p.Child("signerName"))...)
		errs = append(errs, unversioned.ValidateLabelSelector(b.LabelSelector, unversioned.LabelSelectorValidationOptions{}, p.Child("labelSelector"))...)
	default:
		errs = append(errs, field.Required(p, "either name or signerName must be specified"))
	}
	if b.Path == "" {
		errs = append(errs, field.Required(p.Child("path"), ""))
	}
	return append(errs, newPath(b.Path, taken, volume, p.Child("path"))...)
}

// bundleName judges the name of a ClusterTrustBundle: one of a signer's begins with the signer's name.
func bundleName(name string) []string {
	if i := strings.LastIndex(name, ":"); i >= 0 {
		name = name[i+1:]
	}
	return apivalidation.NameIsDNSSubdomain(name, false)
}

// validateCertificate judges a projection of a certificate for the pod and of its key.
func validateCertificate(c *corev1.PodCertificateProjection, taken sets.Set[string], volume, p *field.Path) field.ErrorList {
	errs := rules.Signer(c.SignerName, p.Child("signerName"))
	for key := range c.UserAnnotations {
		errs = append(errs, validation.IsDomainPrefixedKey(p.Child("userAnnotations"), strings.ToLower(key))...)
	}
	if apivalidation.ValidateAnnotationsSize(c.UserAnnotations) != nil {
		errs = append(errs, field.TooLong(p.Child("userAnnotations"), "", apivalidation.TotalAnnotationSizeLimitB))
	}
	errs = append(errs, rules.Among(p.Child("keyType"), c.KeyType, keyTypes...)...)
	if s, at := c.MaxExpirationSeconds, p.Child("maxExpirationSeconds"); s != nil {
		limit := int32(maxCertificate)
		if rules.SystemSigner(c.SignerName) {
			limit = maxSystemCertificate
		}
		if *s < minCertificate {
			errs = append(errs, field.Invalid(at, *s, fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", minCertificate)))
		}
		if *s > limit {
			errs = append(errs, field.Invalid(at, *s, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", limit)))
		}
	}
	paths := 0
	for _, f := range []struct{ name, path string }{
		{"credentialBundlePath", c.CredentialBundlePath}, {"keyPath", c.KeyPath}, {"certificateChainPath", c.CertificateChainPath},
	} {
		if f.path != "" {
			paths++
			errs = append(errs, newPath(f.path, taken, volume, p.Child(f.name))...)
		}
	}
	if paths == 0 {
		errs = append(errs, field.Required(p, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
	}
	return errs
}
