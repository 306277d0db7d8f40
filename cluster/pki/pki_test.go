package pki_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kogge-dev/kogge/cluster/pki"
)

func newCA(t *testing.T) *pki.CA {
	t.Helper()
	ca, err := pki.NewCA("kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func TestServerAndClientTrustEachOther(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	serving, err := ca.Server([]string{"kubernetes"}, []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")})
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Client("kubernetes-admin", []string{"others", "system:masters"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		if diff := cmp.Diff([]string{"others", "system:masters"}, subject.Organization); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		if _, err := io.WriteString(w, subject.CommonName); err != nil {
			t.Error(err)
		}
	}))
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{keyPair(t, serving)},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    ca.Pool(),
	}
	server.StartTLS()
	defer server.Close()

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{keyPair(t, client)}}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(body); got != "kubernetes-admin" {
		t.Errorf("common name %q, want kubernetes-admin", got)
	}
}

func TestCertificatesAreNotInterchangeable(t *testing.T) {
	t.Parallel()
	ca, other := newCA(t), newCA(t)
	serving, err := ca.Server([]string{"node-1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Client("system:node:node-1", []string{"system:nodes"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		pair  pki.Pair
		roots *pki.CA
		host  string
		usage x509.ExtKeyUsage
		want  bool
	}{
		{"server as server", serving, ca, "node-1", x509.ExtKeyUsageServerAuth, true},
		{"server under another name", serving, ca, "node-2", x509.ExtKeyUsageServerAuth, false},
		{"server as client", serving, ca, "", x509.ExtKeyUsageClientAuth, false},
		{"client as client", client, ca, "", x509.ExtKeyUsageClientAuth, true},
		{"client as server", client, ca, "", x509.ExtKeyUsageServerAuth, false},
		{"another authority", serving, other, "node-1", x509.ExtKeyUsageServerAuth, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := keyPair(t, test.pair).Leaf.Verify(x509.VerifyOptions{
				Roots: test.roots.Pool(), DNSName: test.host, KeyUsages: []x509.ExtKeyUsage{test.usage},
			})
			if (err == nil) != test.want {
				t.Errorf("verified: %v, want success %v", err, test.want)
			}
		})
	}
}

func TestValidForTenYears(t *testing.T) {
	t.Parallel()
	certificate := newCA(t).Certificate
	if left := time.Until(certificate.NotAfter); left < 9*365*24*time.Hour {
		t.Errorf("valid for %v only", left)
	}
	if !certificate.NotBefore.Before(time.Now().Add(-time.Minute)) {
		t.Errorf("begins at %v: a client whose clock is behind would refuse it", certificate.NotBefore)
	}
}

func TestNothingToCertify(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	if _, err := ca.Server(nil, nil); err == nil {
		t.Error("a serving certificate without name and address was signed")
	}
	if _, err := ca.Client("", nil); err == nil {
		t.Error("a client certificate without a name was signed")
	}
}

func TestLoadOrCreateKeeps(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	first, err := pki.LoadOrCreate(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pki.LoadOrCreate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !first.CA.Certificate.Equal(second.CA.Certificate) || !first.ServiceAccount.Equal(second.ServiceAccount) {
		t.Error("the second load differs from the first")
	}
	client, err := second.CA.Client("someone", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyPair(t, client).Leaf.Verify(x509.VerifyOptions{Roots: first.CA.Pool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("signed after loading, not trusted by the first: %v", err)
	}
	for _, name := range []string{"ca.key", "sa.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", name, info.Mode())
		}
	}
}

func TestLoadOrCreateRefusesHalfAPair(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ca.key", "ca.crt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := pki.LoadOrCreate(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if _, err := pki.LoadOrCreate(dir); err == nil {
				t.Errorf("loaded without %s", name)
			}
		})
	}
}

// keyPair is the pair as crypto/tls has it, with its parsed leaf.
func keyPair(t *testing.T, pair pki.Pair) tls.Certificate {
	t.Helper()
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// A server for which no certificate was signed must not be reached: the addresses in it matter.
func TestAddressMustBeNamed(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	serving, err := ca.Server(nil, []netip.Addr{netip.MustParseAddr("172.31.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		// The client breaks the handshake off; that error is what it reports below.
		_ = tls.Server(connection, &tls.Config{Certificates: []tls.Certificate{keyPair(t, serving)}}).Handshake()
	}()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: ca.Pool()}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if connection, err := dialer.DialContext(ctx, "tcp", listener.Addr().String()); err == nil {
		connection.Close()
		t.Error("connected to an address that the certificate does not name")
	}
}
