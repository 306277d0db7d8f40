package bootstraptoken

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// secretType is that of Secrets which hold a token.
	secretType = corev1.SecretType("bootstrap.kubernetes.io/token")
	// document is the key of what is signed, and signatures begin the keys of signatures.
	document, signatures = "kubeconfig", "jws-kubeconfig-"
)

// secretName is what the name of a token's Secret must be; it has the token's id.
var secretName = regexp.MustCompile(`^bootstrap-token-([a-z0-9]{6})$`)

// Left is how long a token is good for; expired says that it is good no more. A token without an end has neither.
func Left(secret *corev1.Secret, now time.Time) (left time.Duration, expired bool) {
	text := string(secret.Data["expiration"])
	if text == "" {
		return 0, false
	}
	end, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, true // as good as over
	}
	left = end.Sub(now)
	return max(left, 0), left <= 0
}

// Signing gives the id and the secret of a token that is for signing; both are empty for others.
func Signing(secret *corev1.Secret, now time.Time) (id, key string) {
	name := secretName.FindStringSubmatch(secret.Name)
	_, expired := Left(secret, now)
	id, key = string(secret.Data["token-id"]), string(secret.Data["token-secret"])
	if secret.Type != secretType || len(name) != 2 || name[1] != id || key == "" || expired || string(secret.Data["usage-bootstrap-signing"]) != "true" {
		return "", ""
	}
	return id, key
}

// Signed is the ConfigMap's data with one signature for each of the tokens, and no other; nil when there is nothing to sign.
func Signed(data, tokens map[string]string) map[string]string {
	content, ok := data[document]
	if !ok {
		return nil
	}
	signed := maps.Clone(data)
	maps.DeleteFunc(signed, func(key, _ string) bool { return strings.HasPrefix(key, signatures) })
	for id, key := range tokens {
		signed[signatures+id] = sign(content, id, key)
	}
	return signed
}

// sign makes a detached JSON Web Signature (RFC 7515, appendix F) with HMAC SHA-256.
func sign(content, id, key string) string {
	encode := base64.RawURLEncoding.EncodeToString
	header := encode(fmt.Appendf(nil, `{"alg":"HS256","kid":%q}`, id))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(header + "." + encode([]byte(content)))) // never fails
	return header + ".." + encode(mac.Sum(nil))
}
