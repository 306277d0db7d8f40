package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"k8s.io/utils/ptr"
)

func texts(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Field+": "+string(e.Type))
	}
	return strings.Join(out, "\n")
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificate(t *testing.T, key *ecdsa.PrivateKey, from time.Time, life time.Duration, ca bool) string {
	t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(life), IsCA: ca, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func stub(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "x"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestSigners(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"example.com/a": "", "": "s: FieldValueRequired", "example.com": "s: FieldValueInvalid", "a/b/c": "s: FieldValueInvalid",
		"example/a": "s: FieldValueInvalid", "Example.com/a": "s: FieldValueInvalid", "example.com/A": "s: FieldValueInvalid",
	} {
		if got := texts(rules.Signer(name, field.NewPath("s"))); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestBundlesAreNamedAfterTheirSigner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signer, name string
		good         bool
	}{{"", "plain", true}, {"", "a:b", false}, {"example.com/s", "example.com:s:x", true}, {"example.com/s", "x", false}} {
		if got := len(bundleName(c.signer)(c.name, false)) == 0; got != c.good {
			t.Errorf("%q of %q: %v", c.name, c.signer, got)
		}
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	ca := certificate(t, newKey(t), time.Now(), time.Hour, true)
	for name, c := range map[string]struct {
		bundle string
		good   bool
	}{
		"one": {ca, true}, "none": {"", false}, "one twice": {ca + ca, false}, "no authority": {certificate(t, newKey(t), time.Now(), time.Hour, false), false},
		"a key": {strings.ReplaceAll(ca, "CERTIFICATE", "PRIVATE KEY"), false},
	} {
		if got := len(validateAnchors(c.bundle)) == 0; got != c.good {
			t.Errorf("%s: %v", name, validateAnchors(c.bundle))
		}
	}
}

// TestDecisionsComeByTheirOwnEndpoint: status neither approves nor denies, approval issues nothing.
func TestDecisionsComeByTheirOwnEndpoint(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	request := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: stub(t, key)})
	made := func(certificate string, types ...certificatesv1.RequestConditionType) *certificatesv1.CertificateSigningRequest {
		r := &certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{Request: request, SignerName: "example.com/s", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}}}
		for _, x := range types {
			r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: x, Status: corev1.ConditionTrue})
		}
		r.Status.Certificate = []byte(certificate)
		return r
	}
	issued := certificate(t, key, time.Now(), time.Hour, false)
	for name, c := range map[string]struct {
		now, was      *certificatesv1.CertificateSigningRequest
		decide, issue bool
		want          string
	}{
		"approved":               {now: made("", certificatesv1.CertificateApproved), was: made(""), decide: true},
		"approved by status":     {now: made("", certificatesv1.CertificateApproved), was: made(""), issue: true, want: "status.conditions: FieldValueForbidden"},
		"issued":                 {now: made(issued, certificatesv1.CertificateApproved), was: made("", certificatesv1.CertificateApproved), issue: true},
		"issued by approval":     {now: made(issued), was: made(""), decide: true, want: "status.certificate: FieldValueForbidden"},
		"approval taken back":    {now: made(""), was: made("", certificatesv1.CertificateApproved), decide: true, want: "status.conditions: FieldValueForbidden"},
		"both":                   {now: made("", certificatesv1.CertificateApproved, certificatesv1.CertificateDenied), was: made(""), decide: true, want: "status.conditions: FieldValueInvalid"},
		"what is no certificate": {now: made("x"), was: made(""), issue: true, want: "status.certificate: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := texts(validateRequestUpdate(c.now, c.was, c.decide, c.issue)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPodCertificates(t *testing.T) {
	t.Parallel()
	key, from := newKey(t), time.Now().Truncate(time.Second)
	request := func() *certificatesv1.PodCertificateRequest {
		return &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{SignerName: "example.com/s", PodName: "p", PodUID: "u", ServiceAccountName: "s", ServiceAccountUID: "u",
			NodeName: "n", NodeUID: "u", MaxExpirationSeconds: ptr.To[int32](2 * 60 * 60), StubPKCS10Request: stub(t, key)}}
	}
	if got := texts(validatePodRequest(&request().Spec)); got != "" {
		t.Errorf("a good request: %s", got)
	}
	short := request()
	short.Spec.MaxExpirationSeconds = ptr.To[int32](60)
	if got := texts(validatePodRequest(&short.Spec)); got != "spec.maxExpirationSeconds: FieldValueInvalid" {
		t.Errorf("too short: %s", got)
	}
	at := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: from.Add(d)} }
	issue := func(holder *ecdsa.PrivateKey, renew time.Duration) *certificatesv1.PodCertificateRequest {
		r := request()
		r.Status = certificatesv1.PodCertificateRequestStatus{CertificateChain: certificate(t, holder, from, time.Hour, false), NotBefore: at(0), NotAfter: at(time.Hour), BeginRefreshAt: at(renew),
			Conditions: []metav1.Condition{{Type: certificatesv1.PodCertificateRequestConditionTypeIssued, Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: *at(0)}}}
		return r
	}
	for name, c := range map[string]struct {
		now, was *certificatesv1.PodCertificateRequest
		want     string
	}{
		"issued":             {issue(key, 30*time.Minute), request(), ""},
		"to another key":     {issue(newKey(t), 30*time.Minute), request(), "status.certificateChain: FieldValueInvalid"},
		"renewed at once":    {issue(key, time.Minute), request(), "status.beginRefreshAt: FieldValueInvalid"},
		"issued once more":   {issue(key, 20*time.Minute), issue(key, 30*time.Minute), "status: FieldValueInvalid"},
		"nothing decided on": {request(), request(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := texts(validatePodStatus(c.now, c.was)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
