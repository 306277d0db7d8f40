package authn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"slices"
	"testing"
	"time"
)

// issue makes a certificate, signed by itself without a parent.
func issue(t testing.TB, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}

// TestCertificates: what is remembered of a chain ends with the first of its certificates, and is nobody else's.
func TestCertificates(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	authority, key := issue(t, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	client := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "alice", Organization: []string{"team"}},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(2 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	alice, _ := issue(t, client, authority, key)
	stranger, _ := issue(t, client, nil, nil)
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	a := &Authenticator{ClientCAs: pool, Now: func() time.Time { return now }}
	for range 2 {
		u, err := a.certificate([]*x509.Certificate{alice})
		if err != nil || u.Name != "alice" || !slices.Equal(u.Groups, []string{"team", GroupAuthenticated}) {
			t.Fatalf("%+v, %v", u, err)
		}
		if _, err := a.certificate([]*x509.Certificate{stranger}); err == nil {
			t.Error("a certificate that nobody signed was accepted")
		}
	}
	now = now.Add(90 * time.Minute) // the authority's certificate is over, the client's is not
	if _, err := a.certificate([]*x509.Certificate{alice}); err == nil {
		t.Error("a certificate of an authority that expired was accepted")
	}
	now = now.Add(-2 * time.Hour)
	if _, err := a.certificate([]*x509.Certificate{alice}); err == nil {
		t.Error("a certificate was accepted before its time")
	}
}
