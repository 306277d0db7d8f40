package pullproxy

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// dialTimeout is how long a registry may take to accept a connection.
const dialTimeout = 30 * time.Second

// Options say how a Proxy works.
type Options struct {
	// Token is the password that clients show; their user name is not looked at.
	Token string
	// Upstream tells which proxy leads to a URL, nil for none. The default asks the environment.
	Upstream func(*http.Request) (*url.URL, error)
	Logger   *slog.Logger
}

// Proxy is the proxy, as an http.Handler.
type Proxy struct{ options Options }

// New makes a Proxy.
func New(options Options) *Proxy {
	if options.Upstream == nil {
		options.Upstream = http.ProxyFromEnvironment
	}
	return &Proxy{options: options}
}

// ServeHTTP opens the tunnel that is asked for, and stays until one side ends it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.allowed(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="image pulls"`)
		http.Error(w, "this proxy is for pulling images only", http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT is understood", http.StatusMethodNotAllowed)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), dialTimeout)
	defer cancel()
	registry, err := p.dial(ctx, r.Host)
	if err != nil {
		p.options.Logger.Warn("no tunnel to the registry", "registry", r.Host, "error", err)
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer registry.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "this connection can't become a tunnel", http.StatusInternalServerError)
		return
	}
	client, buffered, err := hijacker.Hijack()
	if err != nil {
		p.options.Logger.Warn("no tunnel from the client", "error", err)
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	join(client, buffered.Reader, registry)
}

// allowed compares the password of Proxy-Authorization with the token.
func (p *Proxy) allowed(r *http.Request) bool {
	encoded, found := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
	if !found {
		return false
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	_, password, _ := strings.Cut(string(decoded), ":")
	return p.options.Token != "" && subtle.ConstantTimeCompare([]byte(password), []byte(p.options.Token)) == 1
}

// join copies both ways until both have ended. What the client sent with its request comes first.
func join(client net.Conn, early io.Reader, registry net.Conn) {
	done := make(chan struct{}, 2)
	pass := func(to net.Conn, from io.Reader) {
		// How a tunnel ends is the business of those at its ends.
		_, _ = io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		done <- struct{}{}
	}
	go pass(registry, early)
	go pass(client, registry)
	<-done
	<-done
}

// dial connects to a registry, directly or through the machine's own proxy.
func (p *Proxy) dial(ctx context.Context, address string) (net.Conn, error) {
	target := &http.Request{URL: &url.URL{Scheme: "https", Host: strings.TrimSuffix(address, ":443")}}
	upstream, err := p.options.Upstream(target)
	if err != nil {
		return nil, fmt.Errorf("find the machine's proxy: %w", err)
	}
	if upstream == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if upstream.Scheme != "http" {
		return nil, fmt.Errorf("the machine's proxy %s is not reached by plain HTTP", upstream.Redacted())
	}
	return throughProxy(ctx, upstream, address)
}

// throughProxy opens a tunnel through another proxy.
func throughProxy(ctx context.Context, proxy *url.URL, address string) (net.Conn, error) {
	host := proxy.Host
	if proxy.Port() == "" {
		host = net.JoinHostPort(proxy.Hostname(), "80")
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("reach the machine's proxy: %w", err)
	}
	// Ends the exchange below when ctx does.
	stop := context.AfterFunc(ctx, func() { connection.Close() })
	defer stop()
	if err := request(connection, proxy, address); err != nil {
		return nil, errors.Join(fmt.Errorf("ask the machine's proxy: %w", err), connection.Close())
	}
	return connection, nil
}

func request(connection net.Conn, proxy *url.URL, address string) error {
	asked := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		asked.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := asked.Write(connection); err != nil {
		return err
	}
	response, err := readResponse(connection, asked)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return nil
}
