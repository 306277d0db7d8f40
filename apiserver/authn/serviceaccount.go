package authn

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// Extra keys that a ServiceAccount's token puts into its user.
const (
	extraPodName      = "authentication.kubernetes.io/pod-name"
	extraPodUID       = "authentication.kubernetes.io/pod-uid"
	extraNodeName     = "authentication.kubernetes.io/node-name"
	extraNodeUID      = "authentication.kubernetes.io/node-uid"
	extraCredentialID = "authentication.kubernetes.io/credential-id"
)

// Ref names an object that a token is bound to.
type Ref struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Claims of a ServiceAccount's token beside the standard ones.
type Claims struct {
	Namespace      string `json:"namespace"`
	Node           *Ref   `json:"node,omitempty"`
	Pod            *Ref   `json:"pod,omitempty"`
	Secret         *Ref   `json:"secret,omitempty"`
	ServiceAccount Ref    `json:"serviceaccount"`
	// WarnAfter is when a token that lives longer than was asked for should have been renewed.
	WarnAfter *jwt.NumericDate `json:"warnafter,omitempty"`
}

type private struct {
	Kubernetes Claims `json:"kubernetes.io"`
}

// ServiceAccounts signs and checks ServiceAccounts' tokens (JWT, by RSA or ECDSA keys).
type ServiceAccounts struct {
	Issuer string
	// Key signs, and checks what it signed.
	Key crypto.Signer
	// Verifying are the public keys of further signers whose tokens hold, such as a key before this one.
	Verifying []crypto.PublicKey
	// Audiences that the API server answers to.
	Audiences []string
	// Exists says whether an object that a token is bound to is still there. Kind is ServiceAccount, Pod, Node or Secret.
	Exists func(kind, namespace string, ref Ref) bool
	Now    func() time.Time
}

// Sign makes a token.
func (s *ServiceAccounts) Sign(c Claims, audiences []string, id string, issued, expires time.Time) (string, error) {
	public := s.Key.Public()
	algorithm, err := algorithmOf(public)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	key := jose.JSONWebKey{Key: s.Key, KeyID: KeyID(public)}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, nil)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: s.Issuer, Subject: Subject(c.Namespace, c.ServiceAccount.Name), ID: id,
		IssuedAt: jwt.NewNumericDate(issued), NotBefore: jwt.NewNumericDate(issued), Expiry: jwt.NewNumericDate(expires),
	}).Claims(audience{audiences}).Claims(private{c}).Serialize()
}

// audience is for whom a token is: a list always, also of one, which the library would write as text.
type audience struct {
	Audience []string `json:"aud"`
}

// Subject is a ServiceAccount's user name.
func Subject(namespace, name string) string { return subjectPrefix + namespace + ":" + name }

const subjectPrefix = "system:serviceaccount:"

// SplitSubject gives the ServiceAccount that a user name stands for, if it is one's.
func SplitSubject(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, subjectPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// SubjectGroups are the groups that all ServiceAccounts of a namespace are in.
func SubjectGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

var errToken = errors.New("invalid token")

// User checks a token for the server itself; tokens of other issuers are not its own.
func (s *ServiceAccounts) User(ctx context.Context, token string) (*request.User, error) {
	u, _, err := s.UserFor(ctx, token, nil)
	return u, err
}

// UserFor checks a token for some audiences, none standing for the server's own, and tells which of them it has.
func (s *ServiceAccounts) UserFor(_ context.Context, token string, audiences []string) (*request.User, []string, error) {
	if strings.Count(token, ".") != 2 {
		return nil, nil, nil
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, nil, nil //nolint:nilerr // not a token of ours
	}
	if len(audiences) == 0 {
		audiences = s.Audiences
	}
	var std jwt.Claims
	var own private
	if !s.claims(parsed, &std, &own) {
		return nil, nil, errToken
	}
	if err := std.ValidateWithLeeway(jwt.Expected{Issuer: s.Issuer, Time: s.Now()}, 0); errors.Is(err, jwt.ErrExpired) {
		return nil, nil, errors.New("service account token has expired")
	} else if err != nil {
		return nil, nil, errToken
	}
	var matched []string
	for _, a := range audiences {
		if std.Audience.Contains(a) {
			matched = append(matched, a)
		}
	}
	if len(matched) == 0 {
		return nil, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(std.Audience), audiences)
	}
	if !s.bound(own.Kubernetes) {
		return nil, nil, errors.New("service account token has been invalidated")
	}
	return user(std, own.Kubernetes), matched, nil
}

// claims reads what a token says, if one of the keys signed it.
func (s *ServiceAccounts) claims(t *jwt.JSONWebToken, into ...any) bool {
	if t.Claims(s.Key.Public(), into...) == nil {
		return true
	}
	for _, k := range s.Verifying {
		if t.Claims(k, into...) == nil {
			return true
		}
	}
	return false
}

// bound says whether all that the token is bound to is there.
func (s *ServiceAccounts) bound(c Claims) bool {
	refs := map[string]*Ref{"ServiceAccount": &c.ServiceAccount, "Pod": c.Pod, "Secret": c.Secret}
	if c.Pod == nil {
		// A pod's token names its node for information only; a token bound to the node alone dies with it.
		refs["Node"] = c.Node
	}
	for kind, ref := range refs {
		if ref != nil && !s.Exists(kind, c.Namespace, *ref) {
			return false
		}
	}
	return true
}

func user(std jwt.Claims, c Claims) *request.User {
	u := &request.User{
		Name: Subject(c.Namespace, c.ServiceAccount.Name), UID: string(c.ServiceAccount.UID),
		Groups: SubjectGroups(c.Namespace),
		Extra:  map[string][]string{},
	}
	if std.ID != "" {
		u.Extra[extraCredentialID] = []string{"JTI=" + std.ID}
	}
	if c.Pod != nil {
		u.Extra[extraPodName], u.Extra[extraPodUID] = []string{c.Pod.Name}, []string{string(c.Pod.UID)}
	}
	if c.Node != nil {
		u.Extra[extraNodeName] = []string{c.Node.Name}
		if c.Node.UID != "" {
			u.Extra[extraNodeUID] = []string{string(c.Node.UID)}
		}
	}
	return u
}
