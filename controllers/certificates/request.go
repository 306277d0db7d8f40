package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
)

// legacyUnknown is the signer of requests from before there were signers.
const legacyUnknown = "kubernetes.io/legacy-unknown"

// parse reads what is asked for.
func parse(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse the request: %w", err)
	}
	return request, nil
}

func has(csr *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(csr.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == kind })
}

// failed says that the condition is there and true; conditions of old requests have no status.
func failed(csr *certificatesv1.CertificateSigningRequest) bool {
	return slices.ContainsFunc(csr.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == certificatesv1.CertificateFailed && (c.Status == corev1.ConditionTrue || c.Status == "")
	})
}

// approved says that it was approved and not denied.
func approved(csr *certificatesv1.CertificateSigningRequest) bool {
	return has(csr, certificatesv1.CertificateApproved) && !has(csr, certificatesv1.CertificateDenied)
}

// Judge says whether a request is one that its signer may sign. ours is false for signers that are somebody else's.
func Judge(spec *certificatesv1.CertificateSigningRequestSpec, request *x509.CertificateRequest) (ours bool, err error) {
	switch spec.SignerName {
	case certificatesv1.KubeletServingSignerName:
		return true, judgeServing(spec, request)
	case certificatesv1.KubeAPIServerClientKubeletSignerName:
		return true, judgeNode(spec, request)
	case certificatesv1.KubeAPIServerClientSignerName:
		return true, judgeClient(spec.Usages)
	case legacyUnknown:
		return true, nil
	}
	return false, nil
}

// judgeServing: a kubelet's own name and addresses, to serve.
func judgeServing(spec *certificatesv1.CertificateSigningRequestSpec, request *x509.CertificateRequest) error {
	switch {
	case !ofNodes(request):
		return errors.New("subject organization is not system:nodes")
	case len(request.DNSNames)+len(request.IPAddresses) == 0:
		return errors.New("DNS or IP subjectAltName is required")
	case len(request.EmailAddresses) > 0:
		return errors.New("Email subjectAltNames are not allowed") // upstream writes it so
	case len(request.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	}
	if err := judgeUsages(spec.Usages, certificatesv1.UsageServerAuth); err != nil {
		return err
	}
	return judgeName(request)
}

// judgeNode: a node's name and nothing else, to speak to the API server.
func judgeNode(spec *certificatesv1.CertificateSigningRequestSpec, request *x509.CertificateRequest) error {
	switch {
	case !ofNodes(request):
		return errors.New("subject organization is not system:nodes")
	case len(request.DNSNames) > 0:
		return errors.New("DNS subjectAltNames are not allowed")
	case len(request.EmailAddresses) > 0:
		return errors.New("Email subjectAltNames are not allowed") // upstream writes it so
	case len(request.IPAddresses) > 0:
		return errors.New("IP subjectAltNames are not allowed")
	case len(request.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	}
	if err := judgeName(request); err != nil {
		return err
	}
	return judgeUsages(spec.Usages, certificatesv1.UsageClientAuth)
}

func ofNodes(request *x509.CertificateRequest) bool {
	return slices.Equal(request.Subject.Organization, []string{"system:nodes"})
}

func judgeName(request *x509.CertificateRequest) error {
	if !strings.HasPrefix(request.Subject.CommonName, "system:node:") {
		return errors.New("subject common name does not begin with system:node:")
	}
	return nil
}

// judgeUsages: digital signature and what the certificate is for; key encipherment may be there, for RSA.
func judgeUsages(usages []certificatesv1.KeyUsage, purpose certificatesv1.KeyUsage) error {
	all := []certificatesv1.KeyUsage{purpose, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment}
	slices.Sort(all)
	sorted := slices.Compact(slices.Sorted(slices.Values(usages)))
	without := slices.DeleteFunc(slices.Clone(all), func(u certificatesv1.KeyUsage) bool { return u == certificatesv1.UsageKeyEncipherment })
	if !slices.Equal(sorted, all) && !slices.Equal(sorted, without) {
		return fmt.Errorf("usages did not match %v", all)
	}
	return nil
}

// judgeClient: nothing but what a client needs.
func judgeClient(usages []certificatesv1.KeyUsage) error {
	for _, u := range usages {
		switch u {
		case certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth:
		default:
			return fmt.Errorf("invalid usage for client certificate: %s", u)
		}
	}
	if !slices.Contains(usages, certificatesv1.UsageClientAuth) {
		return fmt.Errorf("missing required usage for client certificate: %s", certificatesv1.UsageClientAuth)
	}
	return nil
}
