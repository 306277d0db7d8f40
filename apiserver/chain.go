package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// chain is what every request passes, in this order. Each step may answer instead of passing on.
func (s *Server) chain() http.Handler {
	h := s.routes()
	h = s.authorizing(h)
	if s.options.Intercept != nil {
		h = s.options.Intercept(h)
	}
	h = s.impersonating(h)
	h = s.authenticating(h)
	h = s.informing(h)
	return s.guarding(h)
}

// guarding turns a panic into an error of one request.
func (s *Server) guarding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
				panic(p)
			}
			s.log.Error("a handler panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			handlers.Error(w, r, apierrors.NewInternalError(fmt.Errorf("this request caused apiserver to panic. Look in the logs for details")))
		}()
		next.ServeHTTP(w, r)
	})
}

// informing reads what the request is about.
func (s *Server) informing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Audit-Id", string(uuid.NewUUID()))
		w.Header().Set("Cache-Control", "no-cache, private")
		ctx := request.WithInfo(r.Context(), request.Parse(r))
		next.ServeHTTP(w, r.WithContext(request.WithWarnings(ctx)))
	})
}

// authenticating finds out who asks.
func (s *Server) authenticating(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, err := s.authn.Authenticate(r)
		if err != nil {
			handlers.Error(w, r, apierrors.NewUnauthorized(authn.ErrUnauthorized.Error()))
			return
		}
		next.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), u)))
	})
}

// authorizing asks whether they may.
func (s *Server) authorizing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, i := request.UserFrom(r.Context()), request.InfoFrom(r.Context())
		if ok, reason := s.authz.Authorize(u, i); !ok {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			handlers.Error(w, r, authz.Forbidden(u, i, reason))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// routes tells resources from everything else.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.healthRoutes(mux)
	mux.HandleFunc("GET /version", s.version)
	mux.HandleFunc("GET /version/{$}", s.version)
	mux.HandleFunc("/version", handlers.NotAllowed)
	mux.Handle("/openapi/v2", s.openapi2)
	mux.HandleFunc("/openapi/v3", s.openapi.Index)
	mux.HandleFunc("/openapi/v3/", s.openapi.Document)
	mux.HandleFunc("/.well-known/openid-configuration", s.openIDConfiguration)
	mux.HandleFunc("/openid/v1/jwks", s.jwks)
	profiling(mux)
	mux.HandleFunc("/{$}", s.index)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := request.InfoFrom(r.Context())
		switch {
		case strings.HasPrefix(r.URL.Path, "//"):
			http.NotFound(w, r) // not cleaned, as the mux would
		case i.IsResource:
			s.resource(w, r, i)
		case r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/apis" || strings.HasPrefix(r.URL.Path, "/apis/"):
			s.discovery(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// profiling serves Go's profiles, to administrators alone: they cost time, and tell what the server works on.
func profiling(mux *http.ServeMux) {
	for path, h := range map[string]http.HandlerFunc{"/debug/pprof/": pprof.Index, "/debug/pprof/profile": pprof.Profile, "/debug/pprof/trace": pprof.Trace} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if u := request.UserFrom(r.Context()); !slices.Contains(u.Groups, "system:masters") {
				handlers.Error(w, r, authz.Forbidden(u, request.InfoFrom(r.Context()), ""))
				return
			}
			h(w, r)
		})
	}
}

// resource serves a request for a resource. Of a group that nobody knows a genuine server speaks in plain text.
func (s *Server) resource(w http.ResponseWriter, r *http.Request, i *request.Info) {
	if i.Group != "" && !s.discover.Has(i.Group) {
		http.NotFound(w, r)
		return
	}
	s.handlers.ServeHTTP(w, r)
}

// discovery answers what is below /api and /apis and names no resource.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	legacy := parts[0] == "api"
	if len(parts) == 1 && wantsAggregated(r) {
		if b, ok := s.discover.Aggregated(w, r, legacy); ok {
			w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
			_, _ = w.Write(b) // the client has gone
		}
		return
	}
	var doc any
	kind := ""
	switch {
	case legacy && len(parts) == 1:
		doc, kind = s.discover.Legacy(), "APIVersions"
	case legacy && len(parts) == 2:
		if l := s.discover.Resources(schema.GroupVersion{Version: parts[1]}); l != nil {
			doc, kind = l, "APIResourceList"
		}
	case len(parts) == 1:
		doc, kind = s.discover.Groups(), "APIGroupList"
	case len(parts) == 2:
		if g := s.discover.Group(parts[1]); g != nil {
			doc, kind = g, "APIGroup"
		}
	case len(parts) == 3:
		if l := s.discover.Resources(schema.GroupVersion{Group: parts[1], Version: parts[2]}); l != nil {
			doc, kind = l, "APIResourceList"
		}
	}
	switch {
	case doc == nil && len(parts) > 1 && !legacy && s.discover.Custom(parts[1]):
		http.NotFound(w, r)
		return
	case doc == nil:
		handlers.NotFound(w, r)
		return
	case r.Method != http.MethodGet:
		handlers.NotAllowed(w, r)
		return
	case !negotiation.Accepts(r):
		handlers.NotAcceptable(w, r)
		return
	}
	if len(parts) == 1 {
		w.Header().Add("Vary", "Accept")
	}
	// The legacy group's documents have no apiVersion: they are older than it.
	version := "v1"
	if legacy {
		version = ""
	}
	handlers.Document(w, r, schema.GroupVersionKind{Version: version, Kind: kind}, doc)
}

// wantsAggregated says whether the client prefers the one document to the many.
func wantsAggregated(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept"), ",") {
		p := strings.ReplaceAll(part, " ", "")
		if strings.Contains(p, "as=APIGroupDiscoveryList") && strings.Contains(p, "g=apidiscovery.k8s.io") && strings.Contains(p, "v=v2;") || strings.HasSuffix(p, "v=v2") {
			return strings.HasPrefix(p, string(negotiation.JSON))
		}
		if p == "" || strings.HasPrefix(p, string(negotiation.JSON)) && !strings.Contains(p, "as=") {
			return false
		}
	}
	return false
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, map[string][]string{"paths": s.paths()})
}

// paths lists what can be asked for.
func (s *Server) paths() []string {
	out := []string{"/.well-known/openid-configuration", "/api", "/api/v1", "/apis"}
	for _, g := range s.discover.Groups().Groups {
		out = append(out, "/apis/"+g.Name)
		for _, v := range g.Versions {
			out = append(out, "/apis/"+v.GroupVersion)
		}
	}
	return append(out, "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/openid/v1/jwks", "/readyz", "/version")
}

func writeJSON(w http.ResponseWriter, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the client has gone
}
