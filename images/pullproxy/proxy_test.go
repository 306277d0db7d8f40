package pullproxy_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/kogge-dev/kogge/images/pullproxy"
)

const token = "s3cret"

func direct(*http.Request) (*url.URL, error) { return nil, nil }

// start serves a proxy and returns its URL, with the password given.
func start(t *testing.T, password string, upstream func(*http.Request) (*url.URL, error)) *url.URL {
	t.Helper()
	server := httptest.NewServer(pullproxy.New(pullproxy.Options{Token: token, Upstream: upstream, Logger: slog.New(slog.DiscardHandler)}))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("pull", password)
	return address
}

// registry serves TLS, as registries do.
func registry(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, "layer"); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// pull fetches from the registry through the proxy, as a runtime does.
func pull(t *testing.T, proxy *url.URL, from *httptest.Server) (string, error) {
	t.Helper()
	transport := from.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(proxy)
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from.URL+"/v2/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestPull(t *testing.T) {
	t.Parallel()
	if got, err := pull(t, start(t, token, direct), registry(t)); err != nil || got != "layer" {
		t.Errorf("pulled %q, %v", got, err)
	}
}

func TestPullBehindTheMachinesOwnProxy(t *testing.T) {
	t.Parallel()
	outer := start(t, token, direct)
	asked := make(chan string, 1)
	inner := start(t, token, func(r *http.Request) (*url.URL, error) {
		asked <- r.URL.Host
		return outer, nil
	})
	from := registry(t)
	if got, err := pull(t, inner, from); err != nil || got != "layer" {
		t.Errorf("pulled %q, %v", got, err)
	}
	if got := <-asked; "https://"+got != from.URL {
		t.Errorf("the proxy for %q was looked for, want that for %s", got, from.URL)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	from := registry(t)
	if _, err := pull(t, start(t, "wrong", direct), from); err == nil || !strings.Contains(err.Error(), "Proxy Authentication Required") {
		t.Errorf("with a wrong token: %v", err)
	}
	without := start(t, token, direct)
	without.User = nil
	if _, err := pull(t, without, from); err == nil {
		t.Error("without a token a tunnel was opened")
	}
	from.Close()
	if _, err := pull(t, start(t, token, direct), from); err == nil || !strings.Contains(err.Error(), "Bad Gateway") {
		t.Errorf("a registry that isn't there: %v", err)
	}
	outer := start(t, "wrong", direct)
	if _, err := pull(t, start(t, token, func(*http.Request) (*url.URL, error) { return outer, nil }), registry(t)); err == nil {
		t.Error("a tunnel was opened though the machine's proxy refused")
	}
	// Plain requests are no way out either.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://192.0.2.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Transport{Proxy: http.ProxyURL(start(t, token, direct))}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a plain request: status %s", response.Status)
	}
}
