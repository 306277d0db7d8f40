package registry

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestTokensRoundTrip(t *testing.T) {
	t.Parallel()
	s, err := encodeToken("/registry/pods/n/a", "/registry/pods/", 7)
	if err != nil {
		t.Fatal(err)
	}
	key, rev, err := decodeToken(s, "/registry/pods/")
	if err != nil || key != "/registry/pods/n/a\x00" || rev != 7 {
		t.Errorf("%q %d %v", key, rev, err)
	}
}

// TestForgedTokensStayInside: whatever a client sends, the key begins with the prefix or there is an error.
func TestForgedTokensStayInside(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"../secrets/n/x", "/../secrets", "a/../../x", "..", ".", "a//b", "a/./b"} {
		s := base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":7,"start":"` + start + `"}`))
		if key, _, err := decodeToken(s, "/registry/pods/n/"); err == nil {
			t.Errorf("%q became %q", start, key)
		}
	}
}

func FuzzToken(f *testing.F) {
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":7,"start":"n/a"}`)))
	f.Add("garbage")
	f.Fuzz(func(t *testing.T, s string) {
		const prefix = "/registry/pods/n/"
		key, rev, err := decodeToken(s, prefix)
		if err != nil {
			return
		}
		if !strings.HasPrefix(key, prefix) || strings.Contains(key, "/../") || strings.HasSuffix(key, "/..") || rev == 0 {
			t.Errorf("%q became %q at %d", s, key, rev)
		}
	})
}
