package callout

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// Dial opens a connection.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Options of all callouts of a server.
type Options struct {
	// Endpoint gives the address of one ready endpoint of a Service's port. Its error is a Status.
	Endpoint func(namespace, name string, port int32) (string, error)
	// Dial reaches endpoints; nil: the plain network.
	Dial Dial
	// Wrap stands before every call; nil: nothing does.
	Wrap func(next http.RoundTripper) http.RoundTripper
}

// Target is whom to call: a URL, or a Service.
type Target struct {
	URL     string
	Service *Service // goes before URL
	// CABundle are the authorities of the certificate, in PEM; empty: the system's.
	CABundle []byte
}

// Service is a target that a Service has.
type Service struct {
	Namespace, Name, Path string
	Port                  int32
}

// defaultPort is a Service's port unless its reference names another.
const defaultPort = 443

// NewTarget makes a target of a reference in the form in which all kinds of the API have it.
func NewTarget(url *string, service *Service, port *int32, caBundle []byte) Target {
	t := Target{URL: ptr.Deref(url, ""), Service: service, CABundle: caBundle}
	if service != nil {
		service.Port = ptr.Deref(port, defaultPort)
	}
	return t
}

// New makes a client. HTTP/1.1 spreads concurrent calls over endpoints.
func New(o Options, t Target) (*rest.RESTClient, error) {
	cfg := &rest.Config{QPS: -1, ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()}}
	cfg.CAData = t.CABundle
	if t.Service != nil {
		toService(cfg, o, t.Service)
	} else if err := toURL(cfg, t.URL); err != nil {
		return nil, err
	}
	if o.Wrap != nil {
		cfg.Wrap(o.Wrap)
	}
	return rest.UnversionedRESTClientFor(cfg)
}

func toService(cfg *rest.Config, o Options, s *Service) {
	name := s.Name + "." + s.Namespace + ".svc"
	cfg.NextProtos = []string{"http/1.1"}
	cfg.Host = "https://" + net.JoinHostPort(name, strconv.Itoa(int(s.Port)))
	cfg.APIPath = s.Path
	cfg.ServerName = name
	cfg.Dial = o.Dial
	// No proxy knows the endpoints.
	cfg.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &resolving{next: next, resolve: func() (string, error) { return o.Endpoint(s.Namespace, s.Name, s.Port) }}
	})
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{}).DialContext
	}
}

func toURL(cfg *rest.Config, text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("Unparsable URL: %w", err)
	}
	cfg.Host, cfg.APIPath = u.Scheme+"://"+u.Host, u.Path
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		cfg.NextProtos = []string{"http/1.1"}
	}
	return nil
}

// resolving sends each request to an endpoint of the Service that it is for.
type resolving struct {
	next    http.RoundTripper
	resolve func() (string, error)
}

// RoundTrip sends a request to an endpoint; its Host header still names the Service.
func (r *resolving) RoundTrip(req *http.Request) (*http.Response, error) {
	address, err := r.resolve()
	if err != nil {
		return nil, err
	}
	to := req.Clone(req.Context())
	if to.Host == "" {
		to.Host = req.URL.Host
	}
	to.URL.Host = address
	return r.next.RoundTrip(to)
}

// Post sends a review and gives the answer.
func Post(ctx context.Context, c *rest.RESTClient, body []byte) ([]byte, error) {
	r := c.Post().Body(body).SetHeader("Content-Type", "application/json")
	if timeout, ok := wholeSeconds(ctx); ok {
		r.Timeout(timeout)
	}
	return r.Do(ctx).Raw()
}

// wholeSeconds is how long a context still lasts, rounded up.
func wholeSeconds(ctx context.Context) (time.Duration, bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	left := time.Until(deadline)
	if whole := left.Truncate(time.Second); whole != left {
		left = whole + time.Second
	}
	return left, left > 0
}
