package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/containerlog"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// shutdownGrace is how long requests have to end once the kubelet ends.
const shutdownGrace = 2 * time.Second

// Host is the kubelet, as far as it is asked about here.
type Host interface {
	// Pods returns the node's pods with their present status.
	Pods() []*v1.Pod
	// Pod returns one of them, or nil.
	Pod(namespace, name string) *v1.Pod
	// Node returns the node, or nil before it is registered.
	Node() *v1.Node
}

// Options of a Server.
type Options struct {
	Host    Host
	Runtime *runtime.Runtime
	Logs    *containerlog.Logs
	Logger  *slog.Logger
}

// Server answers requests about one kubelet's pods.
type Server struct {
	options Options
	// handler is made when it is first asked for: most simulated nodes are never asked anything.
	handler func() http.Handler
}

// New returns a Server.
func New(options Options) *Server {
	s := &Server{options: options}
	s.handler = sync.OnceValue(s.routes)
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", s.healthz)
	mux.HandleFunc("GET /pods", s.pods)
	mux.HandleFunc("GET /pods/{$}", s.pods)
	mux.HandleFunc("GET /runningpods/{$}", s.runningPods)
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.containerLogs)
	for _, path := range []string{"/{namespace}/{pod}/{container}", "/{namespace}/{pod}/{uid}/{container}"} {
		mux.HandleFunc("/exec"+path, s.exec)
		mux.HandleFunc("/attach"+path, s.attach)
		mux.HandleFunc("POST /run"+path, s.run)
	}
	mux.HandleFunc("/portForward/{namespace}/{pod}", s.portForward)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", s.portForward)
	mux.HandleFunc("GET /stats/summary", s.summary)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /metrics/resource", s.resourceMetrics)
	return mux
}

// Handler answers requests whose sender has been authenticated.
func (s *Server) Handler() http.Handler { return s.handler() }

// Run serves over TLS until ctx ends. Without authorities nobody can be authenticated, and only /healthz answers.
func (s *Server) Run(ctx context.Context, listener net.Listener, certificate tls.Certificate, authorities *x509.CertPool) error {
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: authorities}
	if authorities == nil {
		config.ClientCAs = x509.NewCertPool()
	}
	// HTTP/2 can't be upgraded to the streams that exec needs.
	config.NextProtos = []string{"http/1.1"}
	serving := &http.Server{
		Handler:           authorized(s.Handler()),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug),
		// Followers of logs must end when the kubelet does.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- serving.Serve(tls.NewListener(listener, config)) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := serving.Shutdown(end); err != nil {
		err = serving.Close() // streams that go on are cut
		if err != nil {
			return fmt.Errorf("stop serving: %w", err)
		}
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// administrators is the group that may ask everything: the API server's certificate is in it. A certificate of the
// cluster alone is not enough, since every node and every user has one.
const administrators = "system:masters"

// authorized lets those pass whose certificate was verified by the handshake and names the group.
func authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/healthz":
		case r.TLS == nil || len(r.TLS.VerifiedChains) == 0:
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		case !slices.Contains(r.TLS.VerifiedChains[0][0].Subject.Organization, administrators):
			http.Error(w, fmt.Sprintf("Forbidden (user=%s)", r.TLS.VerifiedChains[0][0].Subject.CommonName), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s.write(w, []byte("ok"))
}

// write sends a body; a client that went away is not worth more than a line of the log.
func (s *Server) write(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		s.options.Logger.Debug("answer", "err", err)
	}
}
