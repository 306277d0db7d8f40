package certificates

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

const (
	// longest is how long a certificate is good for unless less is asked for (--cluster-signing-duration).
	longest = 365 * 24 * time.Hour
	// shortest is the least that may be asked for.
	shortest = 10 * time.Minute
	// backdate is how far clocks may be behind.
	backdate = 5 * time.Minute
	// short certificates are not cut by what they are backdated.
	short = 8 * time.Hour
)

// serialBits is the length of serial numbers.
const serialBits = 128

// Sign makes the certificate that is asked for, in PEM. authority has its Leaf.
func Sign(authority tls.Certificate, request *x509.CertificateRequest, spec *certificatesv1.CertificateSigningRequestSpec, now time.Time) ([]byte, error) {
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("unable to verify certificate request signature: %w", err)
	}
	template, err := template(request, spec, authority.Leaf.NotAfter, now)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)); err != nil {
		return nil, fmt.Errorf("unable to generate a serial number for %s: %w", request.Subject.CommonName, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, request.PublicKey, authority.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("failed to sign certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// template is the certificate before it is signed. No extension is taken over from the request but names.
func template(request *x509.CertificateRequest, spec *certificatesv1.CertificateSigningRequestSpec, end, now time.Time) (*x509.Certificate, error) {
	t := &x509.Certificate{
		Subject: request.Subject, DNSNames: request.DNSNames, IPAddresses: request.IPAddresses, EmailAddresses: request.EmailAddresses, URIs: request.URIs,
		PublicKeyAlgorithm: request.PublicKeyAlgorithm, PublicKey: request.PublicKey, BasicConstraintsValid: true,
		NotBefore: now.Add(-backdate),
	}
	for _, usage := range spec.Usages {
		if u, ok := usages[usage]; ok {
			t.KeyUsage |= u
			continue
		}
		u, ok := purposes[usage]
		if !ok {
			return nil, fmt.Errorf("unrecognized usage values: %v", []certificatesv1.KeyUsage{usage})
		}
		t.ExtKeyUsage = append(t.ExtKeyUsage, u)
	}
	validity := validity(spec.ExpirationSeconds)
	if t.NotAfter = now.Add(validity); validity >= short {
		t.NotAfter = t.NotAfter.Add(-backdate)
	}
	if t.NotAfter.After(end) {
		t.NotAfter = end
	}
	if !t.NotBefore.Before(end) {
		return nil, fmt.Errorf("the signer has expired: NotAfter=%v", end)
	}
	if !now.Before(end) {
		return nil, fmt.Errorf("refusing to sign a certificate that expired in the past: NotAfter=%v", end)
	}
	return t, nil
}

func validity(seconds *int32) time.Duration {
	if seconds == nil {
		return longest
	}
	return min(max(time.Duration(*seconds)*time.Second, shortest), longest)
}

var usages = map[certificatesv1.KeyUsage]x509.KeyUsage{
	certificatesv1.UsageSigning:           x509.KeyUsageDigitalSignature,
	certificatesv1.UsageDigitalSignature:  x509.KeyUsageDigitalSignature,
	certificatesv1.UsageContentCommitment: x509.KeyUsageContentCommitment,
	certificatesv1.UsageKeyEncipherment:   x509.KeyUsageKeyEncipherment,
	certificatesv1.UsageKeyAgreement:      x509.KeyUsageKeyAgreement,
	certificatesv1.UsageDataEncipherment:  x509.KeyUsageDataEncipherment,
	certificatesv1.UsageCertSign:          x509.KeyUsageCertSign,
	certificatesv1.UsageCRLSign:           x509.KeyUsageCRLSign,
	certificatesv1.UsageEncipherOnly:      x509.KeyUsageEncipherOnly,
	certificatesv1.UsageDecipherOnly:      x509.KeyUsageDecipherOnly,
}

var purposes = map[certificatesv1.KeyUsage]x509.ExtKeyUsage{
	certificatesv1.UsageAny:             x509.ExtKeyUsageAny,
	certificatesv1.UsageServerAuth:      x509.ExtKeyUsageServerAuth,
	certificatesv1.UsageClientAuth:      x509.ExtKeyUsageClientAuth,
	certificatesv1.UsageCodeSigning:     x509.ExtKeyUsageCodeSigning,
	certificatesv1.UsageEmailProtection: x509.ExtKeyUsageEmailProtection,
	certificatesv1.UsageSMIME:           x509.ExtKeyUsageEmailProtection,
	certificatesv1.UsageIPsecEndSystem:  x509.ExtKeyUsageIPSECEndSystem,
	certificatesv1.UsageIPsecTunnel:     x509.ExtKeyUsageIPSECTunnel,
	certificatesv1.UsageIPsecUser:       x509.ExtKeyUsageIPSECUser,
	certificatesv1.UsageTimestamping:    x509.ExtKeyUsageTimeStamping,
	certificatesv1.UsageOCSPSigning:     x509.ExtKeyUsageOCSPSigning,
	certificatesv1.UsageMicrosoftSGC:    x509.ExtKeyUsageMicrosoftServerGatedCrypto,
	certificatesv1.UsageNetscapeSGC:     x509.ExtKeyUsageNetscapeServerGatedCrypto,
}
