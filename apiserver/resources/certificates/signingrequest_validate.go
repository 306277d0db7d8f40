package certificates

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var specPath, conditionsPath = field.NewPath("spec"), field.NewPath("status", "conditions")

// usages that a certificate can be for, in the order in which errors list them.
var usages = func() []certificatesv1.KeyUsage {
	all := []certificatesv1.KeyUsage{
		certificatesv1.UsageSigning, certificatesv1.UsageDigitalSignature, certificatesv1.UsageContentCommitment, certificatesv1.UsageKeyEncipherment,
		certificatesv1.UsageKeyAgreement, certificatesv1.UsageDataEncipherment, certificatesv1.UsageCertSign, certificatesv1.UsageCRLSign,
		certificatesv1.UsageEncipherOnly, certificatesv1.UsageDecipherOnly, certificatesv1.UsageAny, certificatesv1.UsageServerAuth, certificatesv1.UsageClientAuth,
		certificatesv1.UsageCodeSigning, certificatesv1.UsageEmailProtection, certificatesv1.UsageSMIME, certificatesv1.UsageIPsecEndSystem,
		certificatesv1.UsageIPsecTunnel, certificatesv1.UsageIPsecUser, certificatesv1.UsageTimestamping, certificatesv1.UsageOCSPSigning,
		certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC,
	}
	slices.Sort(all)
	return all
}()

// legacySigner is who signed in v1beta1 what nobody was named for.
const legacySigner = "kubernetes.io/legacy-unknown"

// minLifetime of a certificate that is asked for, in seconds.
const minLifetime = 600

// validateRequest judges a request; what was wrong with the old one may stay. old is nil when it is new.
func validateRequest(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	if err := checkRequest(r.Spec.Request); err != nil {
		errs = append(errs, field.Invalid(specPath.Child("request"), r.Spec.Request, err.Error()))
	}
	if len(r.Spec.Usages) == 0 {
		errs = append(errs, field.Required(specPath.Child("usages"), ""))
	}
	if old == nil || len(validateUsages(old.Spec.Usages)) == 0 {
		errs = append(errs, validateUsages(r.Spec.Usages)...)
	}
	if r.Spec.SignerName == legacySigner && (old == nil || old.Spec.SignerName != legacySigner) {
		errs = append(errs, field.Invalid(specPath.Child("signerName"), r.Spec.SignerName, "the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, rules.Signer(r.Spec.SignerName, specPath.Child("signerName"))...)
	}
	if s := r.Spec.ExpirationSeconds; s != nil && *s < minLifetime {
		errs = append(errs, field.Invalid(specPath.Child("expirationSeconds"), *s, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	if old == nil || len(validateConditions(old.Status.Conditions)) == 0 {
		errs = append(errs, validateConditions(r.Status.Conditions)...)
	}
	if old == nil || (!bytes.Equal(r.Status.Certificate, old.Status.Certificate) && checkCertificate(old.Status.Certificate) == nil) {
		if err := checkCertificate(r.Status.Certificate); err != nil {
			errs = append(errs, field.Invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error()))
		}
	}
	return errs
}

func validateUsages(us []certificatesv1.KeyUsage) field.ErrorList {
	var errs, again field.ErrorList
	for i, u := range us {
		at := specPath.Child("usages").Index(i)
		if !slices.Contains(usages, u) {
			errs = append(errs, field.NotSupported(at, u, usages))
		}
		if slices.Contains(us[:i], u) {
			again = append(again, field.Duplicate(at, u))
		}
	}
	return append(errs, again...)
}

// checkRequest says what is wrong with a PKCS#10 request in PEM.
func checkRequest(data []byte) error {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	r, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return r.CheckSignature()
}

// checkCertificate says what is wrong with a chain of certificates in PEM; none is fine.
func checkCertificate(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	blocks := 0
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		switch {
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) != 0:
			return errors.New("no PEM block headers are permitted")
		}
		blocks++
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		data = rest
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

// validateConditions: a decision is made once, one way, and is true.
func validateConditions(cs []certificatesv1.CertificateSigningRequestCondition) field.ErrorList {
	var errs field.ErrorList
	seen := map[certificatesv1.RequestConditionType]bool{}
	both := false
	for i, c := range cs {
		at := conditionsPath.Index(i)
		if c.Type == "" {
			errs = append(errs, field.Required(at.Child("type"), ""))
		}
		allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		if c.Type == certificatesv1.CertificateApproved || c.Type == certificatesv1.CertificateDenied || c.Type == certificatesv1.CertificateFailed {
			allowed = []corev1.ConditionStatus{corev1.ConditionTrue}
		}
		switch {
		case c.Status == "":
			errs = append(errs, field.Required(at.Child("status"), ""))
		case !slices.Contains(allowed, c.Status):
			errs = append(errs, field.NotSupported(at.Child("status"), c.Status, allowed))
		}
		if seen[c.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), c.Type))
		}
		seen[c.Type] = true
		both = both || (seen[certificatesv1.CertificateApproved] && seen[certificatesv1.CertificateDenied])
	}
	if both {
		members := []string{`conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`}
		errs = append(errs, field.Invalid(conditionsPath, "{"+strings.Join(members, ", ")+"}", "must specify at most one of: `"+strings.Join(members, "`, `")+"`"))
	}
	return errs
}

// validateRequestUpdate; decide allows conditions of a decision to be added, issue a certificate to be given.
func validateRequestUpdate(r, old *certificatesv1.CertificateSigningRequest, decide, issue bool) field.ErrorList {
	errs := validateRequest(r, old)
	decisions := []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied}
	for _, t := range append(slices.Clone(decisions), certificatesv1.CertificateFailed) {
		if len(conditionsOf(r, t)) < len(conditionsOf(old, t)) {
			errs = append(errs, field.Forbidden(conditionsPath, fmt.Sprintf("updates may not remove a condition of type %q", t)))
		}
	}
	for _, t := range decisions {
		now, was := conditionsOf(r, t), conditionsOf(old, t)
		switch {
		case decide || len(now) < len(was):
		case len(now) > len(was):
			errs = append(errs, field.Forbidden(conditionsPath, fmt.Sprintf("updates may not add a condition of type %q", t)))
		case !equality.Semantic.DeepEqual(was, now):
			text := strings.ReplaceAll(diff.Diff(was, now), "v1.", "certificates.")
			errs = append(errs, field.Forbidden(conditionsPath, fmt.Sprintf("updates may not modify a condition of type %q\n%v", t, text)))
		}
	}
	if path := field.NewPath("status", "certificate"); !bytes.Equal(r.Status.Certificate, old.Status.Certificate) {
		switch {
		case !issue:
			errs = append(errs, field.Forbidden(path, "updates may not set certificate content"))
		case len(old.Status.Certificate) > 0:
			errs = append(errs, field.Forbidden(path, "updates may not modify existing certificate content"))
		}
	}
	return errs
}

func conditionsOf(r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	var out []certificatesv1.CertificateSigningRequestCondition
	for _, c := range r.Status.Conditions {
		if c.Type == t {
			out = append(out, c)
		}
	}
	return out
}
