package certificates

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Bounds of a pod's request: lifetimes in seconds, keys and requests in bytes, UIDs in characters.
const (
	minPodLifetime    = 60 * 60
	maxPodLifetime    = 91 * 24 * 60 * 60
	maxSystemLifetime = 24 * 60 * 60
	maxKeyBytes       = 10 * 1024
	maxUID            = 128
)

var podRequestDocs = certificatesv1.PodCertificateRequestSpec{}.SwaggerDoc()

// PodCertificateRequest asks, for a pod, for a certificate that only it holds the key of. It is stored as
// v1beta1, whose bytes are v1's, but for a form of key that v1 has left behind.
var PodCertificateRequest = resource.Define(resource.Kind[*certificatesv1.PodCertificateRequest]{
	Name:     resource.Name{Group: "certificates.k8s.io", Version: "v1", Kind: "PodCertificateRequest", Plural: "podcertificaterequests", Namespaced: true},
	List:     &certificatesv1.PodCertificateRequestList{},
	Store:    "podcertificaterequests",
	StoredAs: certificatesv1beta1.SchemeGroupVersion.WithKind("PodCertificateRequest"),
	Default: func(r *certificatesv1.PodCertificateRequest) {
		if r.Spec.MaxExpirationSeconds == nil {
			lifetime := int32(maxSystemLifetime)
			r.Spec.MaxExpirationSeconds = &lifetime
		}
	},
	Strategy: resource.Strategy[*certificatesv1.PodCertificateRequest]{
		PrepareForCreate: func(_ context.Context, r *certificatesv1.PodCertificateRequest) {
			r.Status = certificatesv1.PodCertificateRequestStatus{}
		},
		PrepareForUpdate: func(_ context.Context, r, old *certificatesv1.PodCertificateRequest) { r.Status = old.Status },
		Validate: func(_ context.Context, r *certificatesv1.PodCertificateRequest) field.ErrorList {
			return validatePodRequest(&r.Spec)
		},
		ValidateUpdate: func(_ context.Context, r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
			return rules.Immutable(specPath, r.Spec, old.Spec)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*certificatesv1.PodCertificateRequest]{
		PrepareForUpdate: func(_ context.Context, r, old *certificatesv1.PodCertificateRequest) {
			r.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&r.ObjectMeta, &old.ObjectMeta)
		},
		ValidateUpdate: func(_ context.Context, r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
			return validatePodStatus(r, old)
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	NeedsVersion: true,
	Fields: map[string]func(*certificatesv1.PodCertificateRequest) string{
		"spec.signerName": func(r *certificatesv1.PodCertificateRequest) string { return r.Spec.SignerName },
		"spec.podName":    func(r *certificatesv1.PodCertificateRequest) string { return r.Spec.PodName },
		"spec.nodeName":   func(r *certificatesv1.PodCertificateRequest) string { return string(r.Spec.NodeName) },
	},
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("PodName", "string", podRequestDocs["podName"]),
		resource.Column("ServiceAccountName", "string", podRequestDocs["serviceAccountName"]),
		resource.Column("NodeName", "string", podRequestDocs["nodeName"]),
		resource.Column("SignerName", "string", podRequestDocs["signerName"]),
		resource.Column("State", "string", "Is the request Pending, Issued, Denied, or Failed?"),
		resource.Column("UnverifiedUserAnnotations", "string", podRequestDocs["unverifiedUserAnnotations"]),
	},
	Row: func(r *certificatesv1.PodCertificateRequest) []any {
		state := "Pending"
		for _, c := range r.Status.Conditions {
			if isDecision(c.Type) {
				state = c.Type
			}
		}
		return []any{r.Name, r.Spec.PodName, r.Spec.ServiceAccountName, string(r.Spec.NodeName), r.Spec.SignerName, state, labels.FormatLabels(r.Spec.UnverifiedUserAnnotations)}
	},
})

func isDecision(t string) bool {
	return t == certificatesv1.PodCertificateRequestConditionTypeIssued || t == certificatesv1.PodCertificateRequestConditionTypeDenied || t == certificatesv1.PodCertificateRequestConditionTypeFailed
}

func validatePodRequest(s *certificatesv1.PodCertificateRequestSpec) field.ErrorList {
	errs := rules.Signer(s.SignerName, specPath.Child("signerName"))
	if a := s.UnverifiedUserAnnotations; a != nil {
		path := specPath.Child("unverifiedUserAnnotations")
		for k := range a {
			errs = append(errs, validation.IsDomainPrefixedKey(path, strings.ToLower(k))...)
		}
		if apivalidation.ValidateAnnotationsSize(a) != nil {
			errs = append(errs, field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB))
		}
	}
	errs = append(errs, rules.Invalid(specPath.Child("podName"), s.PodName, apivalidation.NameIsDNSSubdomain(s.PodName, false))...)
	errs = append(errs, validateUID(s.PodUID, specPath.Child("podUID"))...)
	errs = append(errs, rules.Invalid(specPath.Child("serviceAccountName"), s.ServiceAccountName, apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false))...)
	errs = append(errs, validateUID(s.ServiceAccountUID, specPath.Child("serviceAccountUID"))...)
	errs = append(errs, rules.Invalid(specPath.Child("nodeName"), s.NodeName, apivalidation.NameIsDNSSubdomain(string(s.NodeName), false))...)
	errs = append(errs, validateUID(s.NodeUID, specPath.Child("nodeUID"))...)
	if s.MaxExpirationSeconds == nil {
		return append(errs, field.Required(specPath.Child("maxExpirationSeconds"), "must be set"))
	}
	most := int32(maxPodLifetime)
	if rules.SystemSigner(s.SignerName) {
		most = maxSystemLifetime
	}
	if n := *s.MaxExpirationSeconds; n < minPodLifetime || n > most {
		errs = append(errs, field.Invalid(specPath.Child("maxExpirationSeconds"), s.MaxExpirationSeconds, fmt.Sprintf("must be in the range [%d, %d]", minPodLifetime, most)))
	}
	return append(errs, validatePodKey(s)...)
}

func validateUID(uid types.UID, path *field.Path) field.ErrorList {
	switch {
	case uid == "":
		return field.ErrorList{field.Invalid(path, uid, "must not be empty")}
	case len(uid) > maxUID:
		return field.ErrorList{field.TooLong(path, uid, maxUID)}
	}
	return nil
}

// validatePodKey: the key comes in a request that it signed. What v1beta1 has besides, v1 cannot say.
func validatePodKey(s *certificatesv1.PodCertificateRequestSpec) field.ErrorList {
	if len(s.StubPKCS10Request) == 0 {
		return field.ErrorList{field.Invalid(specPath, field.OmitValueType{}, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")}
	}
	return validateStub(s.StubPKCS10Request, specPath.Child("stubPKCS10Request"))
}

func validateStub(data []byte, path *field.Path) field.ErrorList {
	if len(data) > maxKeyBytes {
		return field.ErrorList{field.TooLong(path, data, maxKeyBytes)}
	}
	r, err := x509.ParseCertificateRequest(data)
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, "must be a valid PKCS#10 CSR")}
	}
	if err := badKey(r.PublicKey, path); err != nil {
		return field.ErrorList{err}
	}
	if r.CheckSignature() != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, "invalid signature")}
	}
	return nil
}

// badKey refuses keys of kinds and sizes that are not served.
func badKey(key crypto.PublicKey, path *field.Path) *field.Error {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() && k.Curve != elliptic.P384() && k.Curve != elliptic.P521() {
			return field.Invalid(path, "curve "+k.Curve.Params().Name, "elliptic public keys must use curve P256, P384, or P521")
		}
		return nil
	case *rsa.PublicKey:
		if bits := k.Size() * 8; bits != 3072 && bits != 4096 {
			return field.Invalid(path, fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096")
		}
		return nil
	}
	return field.Invalid(path, field.OmitValueType{}, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")
}
