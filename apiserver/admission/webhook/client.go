package webhook

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// newClient makes the client of a webhook. HTTP/1.1 spreads concurrent calls over endpoints.
func newClient(o *Options, c *admissionv1.WebhookClientConfig) (*rest.RESTClient, error) {
	cfg := &rest.Config{QPS: -1, ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()}}
	cfg.CAData = c.CABundle
	if c.Service != nil {
		toService(cfg, o, c.Service)
	} else if err := toURL(cfg, ptr.Deref(c.URL, "")); err != nil {
		return nil, err
	}
	return rest.UnversionedRESTClientFor(cfg)
}

func toService(cfg *rest.Config, o *Options, s *admissionv1.ServiceReference) {
	port := ptr.Deref(s.Port, 443)
	name := s.Name + "." + s.Namespace + ".svc"
	cfg.NextProtos = []string{"http/1.1"}
	cfg.Host = "https://" + net.JoinHostPort(name, strconv.Itoa(int(port)))
	cfg.APIPath = ptr.Deref(s.Path, "")
	cfg.ServerName = name
	cfg.Dial = o.Dial
	// No proxy knows the endpoints.
	cfg.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &resolving{next: next, resolve: func() (string, error) { return o.Endpoint(s.Namespace, s.Name, port) }}
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

// post sends a review and gives the answer.
func post(ctx context.Context, c *rest.RESTClient, body []byte) ([]byte, error) {
	r := c.Post().Body(body).SetHeader("Content-Type", "application/json")
	if timeout, ok := wholeSeconds(ctx); ok {
		r.Timeout(timeout)
	}
	return r.Do(ctx).Raw()
}
