package certificates

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Bounds of what a signer gives: bytes of a chain, how near a certificate begins, how early and late it may be renewed.
const (
	maxChain    = 100 * 1024
	near        = 5 * time.Minute
	minLife     = time.Hour
	renewMargin = 10 * time.Minute
)

var (
	podStatusPath = field.NewPath("status")
	chainPath     = podStatusPath.Child("certificateChain")
)

func decided(s *certificatesv1.PodCertificateRequestStatus, t string) bool {
	return meta.IsStatusConditionTrue(s.Conditions, t)
}

// validatePodStatus: a request is decided once; a certificate comes only with the decision to issue it.
func validatePodStatus(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	s := &r.Status
	if errs := validateDecisions(s.Conditions); len(errs) > 0 {
		return errs
	}
	issued, denied, failed := certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied, certificatesv1.PodCertificateRequestConditionTypeFailed
	switch {
	case decided(&old.Status, issued) || decided(&old.Status, denied) || decided(&old.Status, failed):
		return same(s, &old.Status, "immutable after PodCertificateRequest is issued, denied, or failed")
	case decided(s, denied) || decided(s, failed):
		return same(s, &certificatesv1.PodCertificateRequestStatus{Conditions: s.Conditions}, "non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case decided(s, issued):
		return validateIssued(r, time.Now())
	}
	return same(s, &old.Status, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
}

func same(s, want *certificatesv1.PodCertificateRequestStatus, text string) field.ErrorList {
	if equality.Semantic.DeepEqual(*s, *want) {
		return nil
	}
	return field.ErrorList{field.Invalid(podStatusPath, field.OmitValueType{}, text)}
}

func validateDecisions(cs []metav1.Condition) field.ErrorList {
	path := podStatusPath.Child("conditions")
	all := []string{certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied, certificatesv1.PodCertificateRequestConditionTypeFailed}
	var errs field.ErrorList
	known := 0
	for i, c := range cs {
		// Upstream writes the index as a part of its own.
		at := path.Child("[" + strconv.Itoa(i) + "]")
		if !isDecision(c.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), c.Type, all))
			continue
		}
		if known++; known > 1 {
			errs = append(errs, field.Invalid(at.Child("type"), c.Type, `There may be at most one condition with type "Issued", "Denied", or "Failed"`))
		}
		errs = append(errs, rules.Among(at.Child("status"), c.Status, metav1.ConditionTrue)...)
	}
	return append(errs, unversioned.ValidateConditions(cs, path)...)
}

// validateIssued holds the chain against what was asked for.
func validateIssued(r *certificatesv1.PodCertificateRequest, now time.Time) field.ErrorList {
	chain := r.Status.CertificateChain
	if len(chain) > maxChain {
		return field.ErrorList{field.TooLong(chainPath, chain, maxChain)}
	}
	leaf, rest, bad := parseLeaf(chain)
	if bad != "" {
		return field.ErrorList{field.Invalid(chainPath, chain, bad)}
	}
	errs := validateNames(leaf)
	key, err := requestedKey(&r.Spec)
	if err != nil {
		return append(errs, err)
	}
	if k, ok := key.(interface{ Equal(crypto.PublicKey) bool }); ok && !k.Equal(leaf.PublicKey) {
		return append(errs, field.Invalid(chainPath, chain, "leaf certificate was not issued to the requested public key"))
	}
	if errs = append(errs, timesGiven(&r.Status)...); len(errs) > 0 {
		return errs
	}
	if err := validateLife(r, leaf, now); err != nil {
		return field.ErrorList{err}
	}
	return validateRest(chain, rest)
}

func parseLeaf(chain string) (leaf *x509.Certificate, rest []byte, bad string) {
	block, rest := pem.Decode([]byte(chain))
	if block == nil {
		return nil, nil, "issued certificate chain must contain at least one certificate"
	}
	if block.Type != "CERTIFICATE" {
		return nil, nil, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, "leaf certificate does not parse as valid X.509"
	}
	return leaf, rest, ""
}

func validateNames(leaf *x509.Certificate) field.ErrorList {
	var errs field.ErrorList
	refuse := func(name, text string) { errs = append(errs, field.Invalid(chainPath, name, text)) }
	for _, name := range leaf.DNSNames {
		if name == "" {
			refuse(name, "leaf certificate should not contain empty DNSName")
		}
		if strings.Contains(name, "..") {
			refuse(name, "leaf certificate's DNSName should not contain '..'")
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			refuse(name, "leaf certificate's DNSName should not start or end with '.'")
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			refuse(address, "leaf certificate should not contain invalid EmailAddress")
		}
	}
	return errs
}

func requestedKey(s *certificatesv1.PodCertificateRequestSpec) (crypto.PublicKey, *field.Error) {
	r, err := x509.ParseCertificateRequest(s.StubPKCS10Request)
	if err != nil {
		return nil, field.Invalid(specPath.Child("stubPKCS10Request"), field.OmitValueType{}, "must be a valid PKCS#10 CSR")
	}
	return r.PublicKey, nil
}

func timesGiven(s *certificatesv1.PodCertificateRequestStatus) field.ErrorList {
	const consistent = "must be present and consistent with the issued certificate"
	var errs field.ErrorList
	for _, t := range []struct {
		name, text string
		time       *metav1.Time
	}{{"notBefore", consistent, s.NotBefore}, {"notAfter", consistent, s.NotAfter}, {"beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]", s.BeginRefreshAt}} {
		if t.time == nil {
			errs = append(errs, field.Required(podStatusPath.Child(t.name), t.text))
		}
	}
	return errs
}

// validateLife finds the first thing that is wrong with when the certificate holds.
func validateLife(r *certificatesv1.PodCertificateRequest, leaf *x509.Certificate, now time.Time) *field.Error {
	from, to, renew := r.Status.NotBefore.Time, r.Status.NotAfter.Time, r.Status.BeginRefreshAt.Time
	life, most := leaf.NotAfter.Sub(leaf.NotBefore), *r.Spec.MaxExpirationSeconds
	before, after, refresh := podStatusPath.Child("notBefore"), podStatusPath.Child("notAfter"), podStatusPath.Child("beginRefreshAt")
	switch {
	case !from.Equal(leaf.NotBefore):
		return field.Invalid(before, from, "must be set to the NotBefore time encoded in the leaf certificate")
	case now.Sub(from).Abs() > near:
		return field.Invalid(before, from, "must be set to within 5 minutes of kube-apiserver's current time")
	case !to.Equal(leaf.NotAfter):
		return field.Invalid(after, to, "must be set to the NotAfter time encoded in the leaf certificate")
	case life < minLife:
		return field.Invalid(chainPath, life, "leaf certificate lifetime must be >= 1 hour")
	case life > time.Duration(most)*time.Second:
		return field.Invalid(chainPath, life, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", most))
	case renew.Before(from.Add(renewMargin)):
		return field.Invalid(refresh, renew, "must be at least 10 minutes after status.notBefore")
	case renew.After(to.Add(-renewMargin)):
		return field.Invalid(refresh, renew, "must be at least 10 minutes before status.notAfter")
	}
	return nil
}

// validateRest: whatever follows the leaf is certificates.
func validateRest(chain string, rest []byte) field.ErrorList {
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil
		}
		if block.Type != "CERTIFICATE" {
			return field.ErrorList{field.Invalid(chainPath, chain, "issued certificate chain must consist entirely of CERTFICATE PEM blocks")}
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return field.ErrorList{field.Invalid(chainPath, chain, "intermediate certificate does not parse as valid X.509")}
		}
	}
}
