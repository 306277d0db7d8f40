package volume

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
)

// When a token is replaced: after 80 % of its life, and after a day in any case.
const (
	lifeUsed     = 0.8
	maxTokenAge  = 24 * time.Hour
	defaultLife  = time.Hour
	retryRequest = time.Minute
)

// TokenRequests gets tokens from the API and keeps them while they are good.
type TokenRequests struct {
	client corev1.ServiceAccountsGetter
	clock  clock.PassiveClock

	mu     sync.Mutex
	tokens map[tokenKey]token
}

type tokenKey struct {
	uid      types.UID
	audience string
	seconds  string
}

type token struct {
	text    string
	issued  time.Time
	expires time.Time
}

// NewTokenRequests returns Tokens that come from the API.
func NewTokenRequests(client corev1.ServiceAccountsGetter, clock clock.PassiveClock) *TokenRequests {
	return &TokenRequests{client: client, clock: clock, tokens: map[tokenKey]token{}}
}

// Token implements Tokens. While no new one can be had, the old one serves to its end.
func (t *TokenRequests) Token(ctx context.Context, pod *v1.Pod, projection *v1.ServiceAccountTokenProjection) (string, error) {
	key := tokenKey{uid: pod.UID, audience: projection.Audience}
	if projection.ExpirationSeconds != nil {
		key.seconds = strconv.FormatInt(*projection.ExpirationSeconds, 10)
	}
	t.mu.Lock()
	old, known := t.tokens[key]
	t.mu.Unlock()
	now := t.clock.Now()
	if known && now.Before(old.renewal()) {
		return old.text, nil
	}
	fresh, err := t.request(ctx, pod, projection)
	if err != nil && known && now.Before(old.expires) {
		return old.text, nil
	}
	if err != nil {
		return "", fmt.Errorf("failed to fetch token: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[key] = fresh
	return fresh.text, nil
}

func (t token) renewal() time.Time {
	life := t.expires.Sub(t.issued)
	return t.issued.Add(min(time.Duration(float64(life)*lifeUsed), maxTokenAge))
}

func (t *TokenRequests) request(ctx context.Context, pod *v1.Pod, projection *v1.ServiceAccountTokenProjection) (token, error) {
	if pod.Spec.ServiceAccountName == "" {
		return token{}, errors.New("the pod has no service account")
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: projection.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if projection.Audience != "" {
		request.Spec.Audiences = []string{projection.Audience}
	}
	issued := t.clock.Now()
	response, err := t.client.ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return token{}, err
	}
	expires := response.Status.ExpirationTimestamp.Time
	if expires.IsZero() {
		expires = issued.Add(defaultLife)
	}
	return token{text: strings.TrimSpace(response.Status.Token), issued: issued, expires: expires}, nil
}

// Renewal is when the first of the pod's tokens is to be replaced; the zero time if it has none.
func (t *TokenRequests) Renewal(uid types.UID) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	var first time.Time
	for key, token := range t.tokens {
		if key.uid != uid {
			continue
		}
		due := token.renewal()
		if now := t.clock.Now(); due.Before(now) {
			due = now.Add(retryRequest) // it could not be replaced in time
		}
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}
	return first
}

// Forget drops the pod's tokens.
func (t *TokenRequests) Forget(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.tokens {
		if key.uid == uid {
			delete(t.tokens, key)
		}
	}
}
