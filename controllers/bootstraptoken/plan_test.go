package bootstraptoken

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func token(change func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-abcdef"}, Type: secretType, Data: map[string][]byte{
		"token-id": []byte("abcdef"), "token-secret": []byte("0123456789abcdef"), "usage-bootstrap-signing": []byte("true")}}
	if change != nil {
		change(s)
	}
	return s
}

func TestLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		left    time.Duration
		expired bool
	}{
		{"", 0, false}, {"2026-03-01T13:00:00Z", time.Hour, false}, {"2026-03-01T12:00:00Z", 0, true}, {"2026-03-01T11:00:00Z", 0, true}, {"tomorrow", 0, true},
	} {
		left, expired := Left(token(func(s *corev1.Secret) { s.Data["expiration"] = []byte(c.text) }), noon)
		if left != c.left || expired != c.expired {
			t.Errorf("%q: %v left, expired %v", c.text, left, expired)
		}
	}
}

func TestSigning(t *testing.T) {
	t.Parallel()
	if id, key := Signing(token(nil), noon); id != "abcdef" || key != "0123456789abcdef" {
		t.Errorf("id %q, key %q", id, key)
	}
	for name, change := range map[string]func(*corev1.Secret){
		"another type": func(s *corev1.Secret) { s.Type = "Opaque" },
		"another name": func(s *corev1.Secret) { s.Name = "bootstrap-token-000000" },
		"no such name": func(s *corev1.Secret) { s.Name = "token" },
		"no secret":    func(s *corev1.Secret) { delete(s.Data, "token-secret") },
		"not to sign":  func(s *corev1.Secret) { delete(s.Data, "usage-bootstrap-signing") },
		"expired":      func(s *corev1.Secret) { s.Data["expiration"] = []byte("2026-03-01T11:00:00Z") },
	} {
		if id, _ := Signing(token(change), noon); id != "" {
			t.Errorf("%s: signs", name)
		}
	}
}

func TestSigned(t *testing.T) {
	t.Parallel()
	if Signed(map[string]string{"other": "x"}, map[string]string{"abcdef": "s"}) != nil {
		t.Error("signed what isn't there")
	}
	// The vector of upstream's own test.
	got := Signed(map[string]string{"kubeconfig": "Hello from the other side. I must have called a thousand times.", "jws-kubeconfig-000000": "old"},
		map[string]string{"joshua": "my voice is my passcode"})
	want := map[string]string{"kubeconfig": "Hello from the other side. I must have called a thousand times.",
		"jws-kubeconfig-joshua": "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8"}
	if !maps.Equal(got, want) {
		t.Errorf("signed %v", got)
	}
}
