package authn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kogge-dev/kogge/apiserver/request"
)

func TestServiceAccountTokens(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	gone := map[string]bool{}
	s := &ServiceAccounts{Issuer: "https://i", Key: key, Audiences: []string{"api"}, Now: func() time.Time { return now },
		Exists: func(kind, _ string, _ Ref) bool { return !gone[kind] }}
	claims := Claims{Namespace: "n", ServiceAccount: Ref{"a", "u"}, Pod: &Ref{"p", "pu"}, Node: &Ref{"w", "wu"}}
	sign := func(audience string) string {
		token, err := s.Sign(claims, []string{audience}, "id", now, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	u, err := s.User(t.Context(), sign("api"))
	if err != nil || u.Name != "system:serviceaccount:n:a" || u.UID != "u" || !slices.Contains(u.Groups, "system:serviceaccounts:n") ||
		u.Extra[extraPodName][0] != "p" || u.Extra[extraNodeName][0] != "w" || u.Extra[extraCredentialID][0] != "JTI=id" {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := s.User(t.Context(), sign("other")); err == nil {
		t.Error("a token for another audience was accepted")
	}
	token := sign("api")
	now = now.Add(2 * time.Hour)
	if _, err := s.User(t.Context(), token); err == nil {
		t.Error("an expired token was accepted")
	}
	now = now.Add(-2 * time.Hour)
	if _, err := s.User(t.Context(), token[:len(token)-4]+"AAAA"); err == nil {
		t.Error("a forged token was accepted")
	}
	for _, kind := range []string{"ServiceAccount", "Pod"} {
		gone[kind] = true
		if _, err := s.User(t.Context(), token); err == nil {
			t.Errorf("a token bound to a %s that is gone was accepted", kind)
		}
		gone[kind] = false
	}
	if u, err := s.User(t.Context(), "opaque"); u != nil || err != nil {
		t.Errorf("a token of somebody else: %v, %v", u, err)
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("t1,alice,1\nt2,bob,2,\"a,b\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := ReadTokenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := f.User(t.Context(), "t2"); err != nil || u.Name != "bob" || !slices.Equal(u.Groups, []string{"a", "b"}) {
		t.Errorf("%+v, %v", u, err)
	}
	if u, _ := f.User(t.Context(), "t"); u != nil {
		t.Errorf("a prefix of a token is %v", u)
	}
}

func TestWhoAsks(t *testing.T) {
	t.Parallel()
	a := &Authenticator{Tokens: []Tokens{TokenFile{{token: "good", user: request.User{Name: "alice"}}}}, Now: time.Now}
	for header, want := range map[string]string{"": Anonymous, "Bearer good": "alice", "bearer  good": "alice", "Basic x": Anonymous, "Bearer": Anonymous, "Bearer bad": ""} {
		r := httptest.NewRequest("GET", "/", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		u, err := a.Authenticate(r)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was accepted as %s", header, u.Name)
		case want != "" && (err != nil || u.Name != want):
			t.Errorf("%q: %v, %v", header, u, err)
		}
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%q: the credentials are passed on", header)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r = r.WithContext(InProcess(context.Background(), &request.User{Name: "me"}))
	if u, err := a.Authenticate(r); err != nil || u.Name != "me" || !slices.Contains(u.Groups, GroupAuthenticated) {
		t.Errorf("in process: %+v, %v", u, err)
	}
}
