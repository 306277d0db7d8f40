package authn

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"

	"github.com/go-jose/go-jose/v4"
)

// KeyID is derived from the key alone, so that it is the same after a restart.
func KeyID(k *ecdsa.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(k)
	if err != nil {
		panic(err) // a P-256 key always encodes
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// JWKS is the document by which others check tokens (OpenID Connect Discovery 1.0).
func (s *ServiceAccounts) JWKS() ([]byte, error) {
	return json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
		Key: &s.Key.PublicKey, KeyID: KeyID(&s.Key.PublicKey), Algorithm: string(jose.ES256), Use: "sig",
	}}})
}

// Configuration is the OpenID provider's description; jwksURI is where JWKS is served.
func (s *ServiceAccounts) Configuration(jwksURI string) ([]byte, error) {
	return json.Marshal(struct {
		Issuer   string   `json:"issuer"`
		JWKSURI  string   `json:"jwks_uri"`
		Response []string `json:"response_types_supported"`
		Subject  []string `json:"subject_types_supported"`
		Signing  []string `json:"id_token_signing_alg_values_supported"`
	}{s.Issuer, jwksURI, []string{"id_token"}, []string{"public"}, []string{string(jose.ES256)}})
}
