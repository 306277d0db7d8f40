package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// asked is a request for a node's certificate, changed.
func asked(t *testing.T, change func(*x509.CertificateRequest)) *x509.CertificateRequest {
	t.Helper()
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}}}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	request, err := parse(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	return request
}

func spec(signer string, usages ...certificatesv1.KeyUsage) *certificatesv1.CertificateSigningRequestSpec {
	return &certificatesv1.CertificateSigningRequestSpec{SignerName: signer, Usages: usages, Username: "system:node:n"}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		signature, encipher = certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment
		client, server      = certificatesv1.UsageClientAuth, certificatesv1.UsageServerAuth
		node, serving       = certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.KubeletServingSignerName
		apiClient           = certificatesv1.KubeAPIServerClientSignerName
	)
	named := func(r *x509.CertificateRequest) { r.DNSNames, r.IPAddresses = []string{"n"}, []net.IP{{10, 0, 0, 1}} }
	for _, c := range []struct {
		name   string
		spec   *certificatesv1.CertificateSigningRequestSpec
		change func(*x509.CertificateRequest)
		want   string
	}{
		{"a node", spec(node, signature, encipher, client), nil, ""},
		{"a node without RSA", spec(node, client, signature), nil, ""},
		{"a node that serves", spec(node, signature, server), nil, "usages did not match [client auth digital signature key encipherment]"},
		{"a node with a name", spec(node, signature, client), named, "DNS subjectAltNames are not allowed"},
		{"not of nodes", spec(node, signature, client), func(r *x509.CertificateRequest) { r.Subject.Organization = nil }, "subject organization is not system:nodes"},
		{"not a node's name", spec(node, signature, client), func(r *x509.CertificateRequest) { r.Subject.CommonName = "n" }, "subject common name does not begin with system:node:"},
		{"serving", spec(serving, signature, server), named, ""},
		{"serving nothing", spec(serving, signature, server), nil, "DNS or IP subjectAltName is required"},
		{"serving with a client's usage", spec(serving, signature, client), named, "usages did not match [digital signature key encipherment server auth]"},
		{"a client", spec(apiClient, client), named, ""},
		{"a client without its usage", spec(apiClient, signature), nil, "missing required usage for client certificate: client auth"},
		{"a client that serves", spec(apiClient, client, server), nil, "invalid usage for client certificate: server auth"},
		{"from before there were signers", spec(legacyUnknown, server), named, ""},
	} {
		ours, err := Judge(c.spec, asked(t, c.change))
		if !ours || (err == nil) != (c.want == "") || (err != nil && err.Error() != c.want) {
			t.Errorf("%s: ours %v, error %v", c.name, ours, err)
		}
	}
	if ours, _ := Judge(spec("example.com/x", client), asked(t, nil)); ours {
		t.Error("another's signer is ours")
	}
}

func newAuthority(t *testing.T, end time.Time) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon.Add(-time.Hour), NotAfter: end, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestSign(t *testing.T) {
	t.Parallel()
	decade := noon.AddDate(10, 0, 0)
	for _, c := range []struct {
		name    string
		end     time.Time
		seconds *int32
		until   time.Time
		fails   string
	}{
		{"a year less what it is backdated", decade, nil, noon.Add(longest - backdate), ""},
		{"short ones are not cut", decade, ptr.To[int32](3600), noon.Add(time.Hour), ""},
		{"nothing below ten minutes", decade, ptr.To[int32](60), noon.Add(10 * time.Minute), ""},
		{"nothing above a year", decade, ptr.To[int32](1 << 30), noon.Add(longest - backdate), ""},
		{"not beyond the authority", noon.Add(time.Hour), nil, noon.Add(time.Hour), ""},
		{"an authority that just ended", noon.Add(-time.Minute), nil, time.Time{}, "refusing to sign a certificate that expired in the past"},
		{"an authority that ended", noon.Add(-10 * time.Minute), nil, time.Time{}, "the signer has expired"},
	} {
		authority := newAuthority(t, c.end)
		s := spec(certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth)
		s.ExpirationSeconds = c.seconds
		text, err := Sign(authority, asked(t, nil), s, noon)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		signed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if err := signed.CheckSignatureFrom(authority.Leaf); err != nil {
			t.Error(err)
		}
		if signed.IsCA || signed.Subject.CommonName != "system:node:n" || signed.KeyUsage != x509.KeyUsageDigitalSignature || len(signed.ExtKeyUsage) != 1 ||
			!signed.NotBefore.Equal(noon.Add(-backdate)) || !signed.NotAfter.Equal(c.until) {
			t.Errorf("%s: from %v to %v, usage %v %v", c.name, signed.NotBefore, signed.NotAfter, signed.KeyUsage, signed.ExtKeyUsage)
		}
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	of := func(user, signer string) string {
		csr := &certificatesv1.CertificateSigningRequest{Spec: *spec(signer, certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth)}
		csr.Spec.Username = user
		var names []string
		for _, a := range attempts(csr, asked(t, nil)) {
			names = append(names, a.subresource)
		}
		return strings.Join(names, " ")
	}
	for _, c := range [][3]string{
		{"system:node:n", certificatesv1.KubeAPIServerClientKubeletSignerName, "selfnodeclient nodeclient"},
		{"system:bootstrap:abc", certificatesv1.KubeAPIServerClientKubeletSignerName, "nodeclient"},
		{"system:node:n", certificatesv1.KubeAPIServerClientSignerName, ""},
	} {
		if got := of(c[0], c[1]); got != c[2] {
			t.Errorf("%s asks %s: %q", c[0], c[1], got)
		}
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	condition := func(kind certificatesv1.RequestConditionType, age time.Duration) certificatesv1.CertificateSigningRequestStatus {
		return certificatesv1.CertificateSigningRequestStatus{Conditions: []certificatesv1.CertificateSigningRequestCondition{{Type: kind, LastUpdateTime: metav1.NewTime(noon.Add(-age))}}}
	}
	issued := condition(certificatesv1.CertificateApproved, 10*time.Minute)
	issued.Certificate = []byte("-----BEGIN CERTIFICATE-----\n")
	for _, c := range []struct {
		name   string
		status certificatesv1.CertificateSigningRequestStatus
		want   time.Duration
	}{
		{"waiting for an answer", certificatesv1.CertificateSigningRequestStatus{}, 23 * time.Hour},
		{"denied", condition(certificatesv1.CertificateDenied, 10*time.Minute), 50 * time.Minute},
		{"failed for long", condition(certificatesv1.CertificateFailed, 2*time.Hour), -time.Hour},
		{"approved, no certificate", condition(certificatesv1.CertificateApproved, 10*time.Hour), 14 * time.Hour},
		{"issued", issued, 50 * time.Minute},
	} {
		csr := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}, Status: c.status}
		if left, ok := Until(csr, noon); !ok || left != c.want {
			t.Errorf("%s: stays %v, %v", c.name, left, ok)
		}
	}
}
