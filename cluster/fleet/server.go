package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Times that a request's header may take, that an idle connection is kept, and that requests have to end.
const (
	headerTimeout = time.Minute
	idleTimeout   = time.Minute
	shutdownGrace = time.Second
)

// server answers for all kubelets of a fleet. Its connections never leave the process.
type server struct {
	fleet    *Fleet
	arriving chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

var _ net.Listener = (*server)(nil)

func newServer(f *Fleet) *server {
	return &server{fleet: f, arriving: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial reaches a kubelet of the fleet, at its node's address; ours is false for an address that is no node's.
func (f *Fleet) Dial(ctx context.Context, _, address string) (connection net.Conn, ours bool, err error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !NodeRange.Contains(to.Addr()) {
		return nil, false, nil
	}
	n := f.at(to.Addr())
	if n == nil || to.Port() != port {
		return nil, true, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	}
	near, far := net.Pipe()
	select {
	case f.server.arriving <- &end{Conn: far, node: n}:
		return near, true, nil
	case <-f.server.closed:
		return nil, true, errors.Join(fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED), near.Close())
	case <-ctx.Done():
		return nil, true, errors.Join(ctx.Err(), near.Close())
	}
}

// end is a node's end of a connection.
type end struct {
	net.Conn
	node *node
}

// Read reads as a socket does: one that was closed here has ended.
func (e *end) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

// nodeKey finds a connection's node in a request's context.
type nodeKey struct{}

// run answers until ctx ends. Whoever comes must show a certificate of the cluster's authority, as the API server
// does; nobody else can come.
func (s *server) run(ctx context.Context) error {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: s.fleet.options.CA.Pool(),
		// HTTP/2 can't be upgraded to the streams that exec needs.
		NextProtos:     []string{"http/1.1"},
		GetCertificate: s.certificate(),
	}
	serving := &http.Server{
		Handler:           http.HandlerFunc(answer),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.fleet.options.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, nodeKey{}, c.(*tls.Conn).NetConn().(*end).node)
		},
	}
	done := make(chan error, 1)
	go func() { done <- serving.Serve(tls.NewListener(s, config)) }()
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := serving.Shutdown(grace); err != nil {
		if err = serving.Close(); err != nil { // streams that go on are cut
			return fmt.Errorf("stop the kubelets' server: %w", err)
		}
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve for the kubelets: %w", err)
	}
	return nil
}

// answer passes a request on to the kubelet that it was sent to.
func answer(w http.ResponseWriter, r *http.Request) {
	n, ok := r.Context().Value(nodeKey{}).(*node)
	if !ok {
		http.Error(w, "no such node", http.StatusNotFound)
		return
	}
	n.kubelet.Handler().ServeHTTP(w, r)
}

// certificate makes a node's certificate when it is first needed.
func (s *server) certificate() func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	var mu sync.Mutex
	made := map[*node]*tls.Certificate{}
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		n := hello.Conn.(*end).node
		mu.Lock()
		defer mu.Unlock()
		if known := made[n]; known != nil {
			return known, nil
		}
		pair, err := s.fleet.options.CA.Server([]string{n.spec.name}, []netip.Addr{n.spec.address})
		if err != nil {
			return nil, err
		}
		certificate, err := pair.TLS()
		if err != nil {
			return nil, err
		}
		made[n] = &certificate
		return &certificate, nil
	}
}

// Accept implements net.Listener.
func (s *server) Accept() (net.Conn, error) {
	select {
	case c := <-s.arriving:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (s *server) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// Addr implements net.Listener.
func (s *server) Addr() net.Addr { return &net.TCPAddr{IP: NodeRange.Addr().AsSlice(), Port: port} }
