package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"time"
)

const (
	// validity is how long a certificate lasts.
	validity = 10 * 365 * 24 * time.Hour
	// clockSkew is how far in the past a certificate begins to be valid.
	clockSkew = time.Hour
)

// CA is a certificate authority: a self-signed certificate and its key.
type CA struct {
	// Certificate is the authority's own certificate.
	Certificate *x509.Certificate

	key  *ecdsa.PrivateKey
	pair Pair
}

// NewCA makes an authority whose subject's common name is name.
func NewCA(name string) (*CA, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign
	// Verifiers that look for the authority by name alone (some TLS stacks do) want its name here too.
	template.DNSNames = []string{name}
	return sign(template, key, template, key)
}

// Server signs a serving certificate for the DNS names and addresses given. At least one name or address is
// needed; the first of them becomes the common name.
func (ca *CA) Server(names []string, ips []netip.Addr) (Pair, error) {
	commonName := ""
	switch {
	case len(names) > 0:
		commonName = names[0]
	case len(ips) > 0:
		commonName = ips[0].String()
	default:
		return Pair{}, fmt.Errorf("serving certificate: no name and no address given")
	}
	addresses := make([]net.IP, 0, len(ips))
	for _, ip := range ips {
		addresses = append(addresses, ip.AsSlice())
	}
	return ca.leaf(pkix.Name{CommonName: commonName}, func(template *x509.Certificate) {
		template.DNSNames = names
		template.IPAddresses = addresses
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
}

// Client signs a client certificate. The API server reads the user's name from the common name and the
// user's groups from the organizations.
func (ca *CA) Client(commonName string, groups []string) (Pair, error) {
	if commonName == "" {
		return Pair{}, fmt.Errorf("client certificate: no common name given")
	}
	return ca.leaf(pkix.Name{CommonName: commonName, Organization: groups}, func(template *x509.Certificate) {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
}

// Pool is a certificate pool that holds this authority alone.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.Certificate)
	return pool
}

// Signing is the authority with its key, for who signs in its name.
func (ca *CA) Signing() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{ca.Certificate.Raw}, PrivateKey: ca.key, Leaf: ca.Certificate}
}

// PEM is the authority's certificate in PEM.
func (ca *CA) PEM() []byte { return ca.pair.Certificate }

func (ca *CA) leaf(subject pkix.Name, complete func(*x509.Certificate)) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template, err := newTemplate(subject)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	complete(template)
	signed, err := sign(template, key, ca.Certificate, ca.key)
	if err != nil {
		return Pair{}, err
	}
	return signed.pair, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

// newTemplate fills what all certificates have in common. The serial number has 127 random bits: positive, and
// at most 20 octets, as RFC 5280 section 4.1.2.2 asks.
func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      subject,
		NotBefore:    now.Add(-clockSkew).UTC(),
		NotAfter:     now.Add(validity).UTC(),
	}, nil
}

// sign returns the certificate that template describes with its key, in the shape of an authority; only one
// whose template says so may sign others.
func sign(template *x509.Certificate, key *ecdsa.PrivateKey, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*CA, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, fmt.Errorf("sign certificate for %q: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse certificate for %q: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := EncodeKey(key)
	if err != nil {
		return nil, err
	}
	return &CA{
		Certificate: certificate,
		key:         key,
		pair:        Pair{Certificate: encodeCertificate(der), Key: keyPEM},
	}, nil
}
