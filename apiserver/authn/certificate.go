package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"sync"
	"time"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// maxVerified is how many chains are remembered; when there are more, all are forgotten.
const maxVerified = 4096

// verified remembers whose chains of certificates are. A client shows the same chain on every request of a
// connection, and checking its signatures costs more than reading an object. Safe for concurrent use.
type verified struct {
	mu     sync.RWMutex
	chains map[[sha256.Size]byte]*identity
}

// identity is a chain's user, for as long as all of its certificates are valid.
type identity struct {
	user        *request.User
	from, until time.Time
}

func (i *identity) valid(now time.Time) bool { return !now.Before(i.from) && !now.After(i.until) }

// certificate gives the user of a chain: the common name is their name, each organization a group.
func (a *Authenticator) certificate(chain []*x509.Certificate) (*request.User, error) {
	if a.ClientCAs == nil {
		return nil, ErrUnauthorized
	}
	key, now := digest(chain), a.Now()
	a.verified.mu.RLock()
	known := a.verified.chains[key]
	a.verified.mu.RUnlock()
	if known != nil && known.valid(now) {
		return known.user, nil
	}
	fresh, err := a.verify(chain, now)
	if err != nil {
		return nil, err
	}
	a.verified.mu.Lock()
	defer a.verified.mu.Unlock()
	if a.verified.chains == nil || len(a.verified.chains) >= maxVerified {
		a.verified.chains = map[[sha256.Size]byte]*identity{}
	}
	a.verified.chains[key] = fresh
	return fresh.user, nil
}

func digest(chain []*x509.Certificate) [sha256.Size]byte {
	if len(chain) == 1 {
		return sha256.Sum256(chain[0].Raw)
	}
	h := sha256.New()
	for _, c := range chain {
		h.Write(c.Raw)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// verify checks a chain's signatures, and when it is valid.
func (a *Authenticator) verify(chain []*x509.Certificate, now time.Time) (*identity, error) {
	o := x509.VerifyOptions{Roots: a.ClientCAs, Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	found, err := chain[0].Verify(o)
	if err != nil {
		return nil, err
	}
	s := chain[0].Subject
	if s.CommonName == "" {
		return nil, ErrUnauthorized
	}
	i := &identity{user: authenticated(&request.User{Name: s.CommonName, Groups: s.Organization}), from: chain[0].NotBefore, until: chain[0].NotAfter}
	for _, c := range found[0] {
		if c.NotBefore.After(i.from) {
			i.from = c.NotBefore
		}
		if c.NotAfter.Before(i.until) {
			i.until = c.NotAfter
		}
	}
	return i, nil
}
