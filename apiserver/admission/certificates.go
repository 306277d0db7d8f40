package admission

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// certificateSubjectRestriction keeps anybody from asking for a certificate that makes them administrator.
func certificateSubjectRestriction() plugin {
	return plugin{name: "CertificateSubjectRestriction", validate: func(_ context.Context, a *registry.Attributes) error {
		r, ok := a.Object.(*certificatesv1.CertificateSigningRequest)
		if !ok || a.Operation != registry.Create || a.Subresource != "" || r.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
			return nil
		}
		parsed, err := parseRequest(r.Spec.Request)
		if err != nil {
			return forbiddenf(a, "failed to parse CSR: %w", err)
		}
		if slices.Contains(parsed.Subject.Organization, "system:masters") {
			return forbiddenf(a, "use of %s signer with system:masters group is not allowed", certificatesv1.KubeAPIServerClientSignerName)
		}
		return nil
	}}
}

func parseRequest(b []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
