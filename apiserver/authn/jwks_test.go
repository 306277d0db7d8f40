package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"
	"time"
)

// A key of any kind signs, and after it was replaced its tokens hold as long as its public half is known.
func TestKeysOfAllKinds(t *testing.T) {
	t.Parallel()
	next, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, make := range map[string]func() (crypto.Signer, error){
		"RS256": func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
		"ES256": func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
		"ES384": func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P384(), rand.Reader) },
		"ES512": func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P521(), rand.Reader) },
	} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			key, err := make()
			if err != nil {
				t.Fatal(err)
			}
			now := time.Unix(1_800_000_000, 0)
			s := &ServiceAccounts{Issuer: "https://i", Key: key, Audiences: []string{"api"}, Now: func() time.Time { return now },
				Exists: func(string, string, Ref) bool { return true }}
			token, err := s.Sign(Claims{Namespace: "n", ServiceAccount: Ref{"a", "u"}}, []string{"api"}, "id", now, now.Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			if u, err := s.User(t.Context(), token); err != nil || u == nil {
				t.Errorf("its own token: %v, %v", u, err)
			}
			document, err := s.Configuration("https://i/keys")
			if err != nil || !strings.Contains(string(document), `"id_token_signing_alg_values_supported":["`+algorithm+`"]`) {
				t.Errorf("%s, %v", document, err)
			}
			s.Key = next
			if u, err := s.User(t.Context(), token); err == nil {
				t.Errorf("the token of an unknown key is %v's", u)
			}
			s.Verifying = []crypto.PublicKey{key.Public(), next.Public()}
			if u, err := s.User(t.Context(), token); err != nil || u == nil {
				t.Errorf("the token of the key before: %v, %v", u, err)
			}
			if keys, err := s.JWKS(); err != nil || strings.Count(string(keys), `"kid"`) != 2 {
				t.Errorf("%s, %v", keys, err)
			}
		})
	}
}

func TestUnusableKey(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &ServiceAccounts{Key: key}
	if _, err := s.Sign(Claims{}, nil, "", time.Now(), time.Now()); err == nil {
		t.Error("a key on P-224 signed")
	}
	if _, err := s.JWKS(); err == nil {
		t.Error("a key on P-224 is published")
	}
}
