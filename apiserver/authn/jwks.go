package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// algorithms that tokens may be signed by (RFC 7518, section 3.1).
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES384, jose.ES512}

// algorithmOf is what tokens of a key are signed by.
func algorithmOf(k crypto.PublicKey) (jose.SignatureAlgorithm, error) {
	switch k := k.(type) {
	case *rsa.PublicKey:
		return jose.RS256, nil
	case *ecdsa.PublicKey:
		switch k.Curve.Params().BitSize {
		case 256:
			return jose.ES256, nil
		case 384:
			return jose.ES384, nil
		case 521:
			return jose.ES512, nil
		}
	}
	return "", fmt.Errorf("tokens can't be signed by %T: RSA, or ECDSA on P-256, P-384 or P-521, is needed", k)
}

// KeyID is derived from the key alone, so that it is the same after a restart.
func KeyID(k crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(k)
	if err != nil {
		return "" // such a key signs nothing: algorithmOf refuses it
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// JWKS is the document by which others check tokens (OpenID Connect Discovery 1.0).
func (s *ServiceAccounts) JWKS() ([]byte, error) {
	var set jose.JSONWebKeySet
	seen := map[string]bool{}
	for _, k := range append([]crypto.PublicKey{s.Key.Public()}, s.Verifying...) {
		algorithm, err := algorithmOf(k)
		if err != nil {
			return nil, err
		}
		if id := KeyID(k); !seen[id] {
			seen[id] = true
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: k, KeyID: id, Algorithm: string(algorithm), Use: "sig"})
		}
	}
	return json.Marshal(set)
}

// Configuration is the OpenID provider's description; jwksURI is where JWKS is served.
func (s *ServiceAccounts) Configuration(jwksURI string) ([]byte, error) {
	var signing []string
	seen := map[jose.SignatureAlgorithm]bool{}
	for _, k := range append([]crypto.PublicKey{s.Key.Public()}, s.Verifying...) {
		algorithm, err := algorithmOf(k)
		if err != nil {
			return nil, err
		}
		if !seen[algorithm] {
			seen[algorithm] = true
			signing = append(signing, string(algorithm))
		}
	}
	return json.Marshal(struct {
		Issuer   string   `json:"issuer"`
		JWKSURI  string   `json:"jwks_uri"`
		Response []string `json:"response_types_supported"`
		Subject  []string `json:"subject_types_supported"`
		Signing  []string `json:"id_token_signing_alg_values_supported"`
	}{s.Issuer, jwksURI, []string{"id_token"}, []string{"public"}, signing})
}
