package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kogge-dev/kogge/apiserver/handlers"
)

// check is one thing that must be well.
type check struct {
	name string
	err  func(ctx context.Context) error
}

// healthRoutes serves /healthz, /livez and /readyz, whole or check by check.
func (s *Server) healthRoutes(mux *http.ServeMux) {
	ping := check{"ping", func(context.Context) error { return nil }}
	etcd := check{"etcd", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return s.store.Healthy(ctx)
	}}
	started := check{"poststarthook/bootstrap-objects", func(context.Context) error {
		select {
		case <-s.ready:
			return nil
		default:
			return fmt.Errorf("not finished")
		}
	}}
	informers := check{"informer-sync", func(context.Context) error {
		select {
		case <-s.cache.Ready():
			return nil
		default:
			return fmt.Errorf("the cache is being filled")
		}
	}}
	stopping := check{"shutdown", func(context.Context) error {
		select {
		case <-s.done:
			return fmt.Errorf("process is shutting down")
		default:
			return nil
		}
	}}
	healthz(mux, "healthz", []check{ping, etcd, started})
	healthz(mux, "livez", []check{ping, etcd, started})
	healthz(mux, "readyz", []check{ping, etcd, informers, started, stopping})
	mux.Handle("/metrics", promhttp.Handler())
}

func healthz(mux *http.ServeMux, name string, checks []check) {
	mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) { answer(w, r, name, checks) })
	for _, c := range checks {
		mux.HandleFunc("/"+name+"/"+c.name, func(w http.ResponseWriter, r *http.Request) {
			if err := c.err(r.Context()); err != nil {
				http.Error(w, "internal server error: "+err.Error(), http.StatusInternalServerError)
				return
			}
			_, _ = fmt.Fprint(w, "ok") // the client has gone
		})
	}
}

// answer runs the checks. A short ok is all that is said unless something failed or more is asked for.
func answer(w http.ResponseWriter, r *http.Request, name string, checks []check) {
	var b strings.Builder
	failed := 0
	for _, c := range checks {
		if slices.Contains(r.URL.Query()["exclude"], c.name) {
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", c.name)
			continue
		}
		if err := c.err(r.Context()); err != nil {
			failed++
			fmt.Fprintf(&b, "[-]%s failed: reason withheld\n", c.name)
			continue
		}
		fmt.Fprintf(&b, "[+]%s ok\n", c.name)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if failed > 0 {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(&b, "%s check failed\n", name)
		_, _ = fmt.Fprint(w, b.String()) // the client has gone
		return
	}
	if _, verbose := r.URL.Query()["verbose"]; verbose {
		fmt.Fprintf(&b, "%s check passed\n", name)
		_, _ = fmt.Fprint(w, b.String()) // the client has gone
		return
	}
	_, _ = fmt.Fprint(w, "ok") // the client has gone
}

func (s *Server) openIDConfiguration(w http.ResponseWriter, r *http.Request) {
	b, err := s.tokens.Configuration("https://" + s.address() + "/openid/v1/jwks")
	serveKeys(w, r, "application/json", b, err)
}

func (s *Server) jwks(w http.ResponseWriter, r *http.Request) {
	const kind = "application/jwk-set+json"
	if a := r.Header.Get("Accept"); a != "" && !strings.Contains(a, "*/*") && !strings.Contains(a, kind) {
		handlers.NotAcceptable(w, r)
		return
	}
	b, err := s.tokens.JWKS()
	serveKeys(w, r, kind, b, err)
}

func serveKeys(w http.ResponseWriter, r *http.Request, kind string, b []byte, err error) {
	if err != nil {
		handlers.Error(w, r, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(b) // the client has gone
}
