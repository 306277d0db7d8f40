package authn

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// Names that stand for all users of a sort.
const (
	Anonymous            = "system:anonymous"
	GroupUnauthenticated = "system:unauthenticated"
	GroupAuthenticated   = "system:authenticated"
	GroupMasters         = "system:masters"
)

// ErrUnauthorized: the request carries credentials that are no good.
var ErrUnauthorized = errors.New("Unauthorized") //nolint:staticcheck // the API's own word

type inProcessKey struct{}

// InProcess marks a context as a request of this very process, made by the user. No socket can set it.
func InProcess(ctx context.Context, u *request.User) context.Context {
	return context.WithValue(ctx, inProcessKey{}, u)
}

// Tokens turns a bearer token into a user. It returns nil, nil for tokens that are not its own.
type Tokens interface {
	User(ctx context.Context, token string) (*request.User, error)
}

// Authenticator finds out who asks.
type Authenticator struct {
	// ClientCAs sign client certificates; nil: none are accepted.
	ClientCAs *x509.CertPool
	// Tokens are tried in order.
	Tokens []Tokens
	Now    func() time.Time

	verified verified
}

// Authenticate gives the request's user. Credentials are taken off the request, so that nothing behind passes them on.
func (a *Authenticator) Authenticate(r *http.Request) (*request.User, error) {
	header := r.Header.Get("Authorization")
	r.Header.Del("Authorization")
	if u, ok := r.Context().Value(inProcessKey{}).(*request.User); ok {
		return authenticated(u), nil
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		if u, err := a.certificate(r.TLS.PeerCertificates); err == nil {
			return authenticated(u), nil
		} else if header == "" {
			return nil, ErrUnauthorized
		}
	}
	if header == "" {
		return &request.User{Name: Anonymous, Groups: []string{GroupUnauthenticated}}, nil
	}
	return a.bearer(r.Context(), header)
}

// Token tells whose a bearer token is, for one of the audiences; none: the server's own. It returns the
// audiences that the token has of these.
func (a *Authenticator) Token(ctx context.Context, token string, audiences []string) (*request.User, []string, error) {
	for _, t := range a.Tokens {
		if of, ok := t.(interface {
			UserFor(ctx context.Context, token string, audiences []string) (*request.User, []string, error)
		}); ok {
			if u, matched, err := of.UserFor(ctx, token, audiences); u != nil || err != nil {
				return withAuthenticated(u), matched, err
			}
			continue
		}
		if u, err := t.User(ctx, token); u != nil || err != nil {
			return withAuthenticated(u), audiences, err
		}
	}
	return nil, nil, ErrUnauthorized
}

func withAuthenticated(u *request.User) *request.User {
	if u == nil {
		return nil
	}
	return authenticated(u)
}

func (a *Authenticator) bearer(ctx context.Context, header string) (*request.User, error) {
	kind, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(kind, "bearer") || token == "" {
		return &request.User{Name: Anonymous, Groups: []string{GroupUnauthenticated}}, nil
	}
	for _, t := range a.Tokens {
		u, err := t.User(ctx, token)
		if err != nil {
			return nil, ErrUnauthorized
		}
		if u != nil {
			return authenticated(u), nil
		}
	}
	return nil, ErrUnauthorized
}

func authenticated(u *request.User) *request.User {
	if slices.Contains(u.Groups, GroupAuthenticated) {
		return u
	}
	out := *u
	out.Groups = append(slices.Clone(u.Groups), GroupAuthenticated)
	return &out
}
