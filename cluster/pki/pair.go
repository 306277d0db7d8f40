package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "EC PRIVATE KEY"
	publicKeyBlock   = "PUBLIC KEY"
)

// Pair is a certificate and its private key, both in PEM, as kubeconfig files and TLS flags want them.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// TLS is the pair as crypto/tls wants it.
func (p Pair) TLS() (tls.Certificate, error) {
	certificate, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read key pair: %w", err)
	}
	return certificate, nil
}

// NewServiceAccountKey makes a key to sign ServiceAccount tokens with (ES256).
func NewServiceAccountKey() (*ecdsa.PrivateKey, error) { return newKey() }

// EncodeKey writes a private key in PEM (SEC 1).
func EncodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}

// EncodePublicKey writes the public half of a key in PEM (PKIX), the form that other verifiers of
// ServiceAccount tokens read.
func EncodePublicKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: publicKeyBlock, Bytes: der}), nil
}

// DecodeKey reads an ECDSA private key from PEM, be it SEC 1 ("EC PRIVATE KEY") or PKCS #8 ("PRIVATE KEY").
func DecodeKey(data []byte) (*ecdsa.PrivateKey, error) {
	for {
		var block *pem.Block
		block, data = pem.Decode(data)
		if block == nil {
			return nil, fmt.Errorf("no private key found in PEM data")
		}
		switch block.Type {
		case keyBlock:
			return x509.ParseECPrivateKey(block.Bytes)
		case "PRIVATE KEY":
			parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("parse private key: %w", err)
			}
			key, ok := parsed.(*ecdsa.PrivateKey)
			if !ok {
				return nil, fmt.Errorf("private key is %T, want ECDSA", parsed)
			}
			return key, nil
		}
	}
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der})
}

func decodeCertificate(data []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != certificateBlock {
		return nil, fmt.Errorf("no certificate found in PEM data")
	}
	return x509.ParseCertificate(block.Bytes)
}
