package patient

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// While the API server can't be reached, a request tries again after firstWait, doubled
// each time up to longestWait: soon enough for a server that just restarts, seldom enough
// to cost nothing.
const (
	firstWait   = 50 * time.Millisecond
	longestWait = time.Second
)

// transport is one that waits for an API server that isn't there. A connection that
// never came to be has carried nothing, so trying again is safe whatever the request.
// Without it every informer would back off by itself, for up to a minute, and whatever asks
// the server while starting would give up.
type transport struct {
	ctx    context.Context // ends all waiting: not every caller gives its request one
	inner  http.RoundTripper
	server string
	log    *slog.Logger

	mu sync.Mutex
	// since is when the server was missed first; zero while it is there.
	since time.Time
}

// Config is config with a transport that waits for the server until ctx, or the request's own context, ends.
func Config(ctx context.Context, config *rest.Config, log *slog.Logger) *rest.Config {
	config = rest.CopyConfig(config)
	server := config.Host
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		return &transport{ctx: ctx, inner: inner, server: server, log: log}
	})
	return config
}

// RoundTrip is http.RoundTripper.
func (p *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		response, err := p.inner.RoundTrip(request)
		if !isAway(err) {
			p.found()
			return response, err
		}
		p.missed(err)
		if request.Body != nil && request.Body != http.NoBody {
			if request.GetBody == nil {
				return nil, err
			}
			body, bodyErr := request.GetBody()
			if bodyErr != nil {
				return nil, errors.Join(err, bodyErr)
			}
			request = request.Clone(request.Context())
			request.Body = body
		}
		if err := p.pause(request.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// pause waits until it is time to try again or one of the two contexts has ended.
func (p *transport) pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// isAway says that no connection came to be.
func isAway(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

// missed says once that the server is away, however many requests wait for it.
func (p *transport) missed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = time.Now()
		p.log.Warn("waiting for the API server", "server", p.server, "error", err)
	}
}

func (p *transport) found() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.since.IsZero() {
		p.log.Info("the API server is there", "server", p.server, "after", time.Since(p.since).Round(time.Millisecond))
		p.since = time.Time{}
	}
}

// CloseIdleConnections lets the transport below close what nobody uses.
func (p *transport) CloseIdleConnections() {
	if closer, ok := p.inner.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
