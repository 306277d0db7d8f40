package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kogge-dev/kogge/apiserver/admission"
	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/authz/rbac"
	"github.com/kogge-dev/kogge/apiserver/crd"
	"github.com/kogge-dev/kogge/apiserver/discovery"
	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/internal/inprocess"
	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/openapi"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources"
	"github.com/kogge-dev/kogge/apiserver/resources/apiextensions"
)

const (
	// compactInterval is how long old versions are kept at least.
	compactInterval = 5 * time.Minute
	// stopGrace is how long requests may go on after the end was asked for; watches end at once.
	stopGrace = 2 * time.Second
)

// Server is an API server. Make one with New, then Run it.
type Server struct {
	options  Options
	log      *slog.Logger
	store    *store.Store
	cache    *cache.Cache
	handlers *handlers.Handlers
	workers  *inprocess.Workers // run what comes without a socket
	authn    *authn.Authenticator
	authz    authz.Authorizer
	rbac     *rbac.Authorizer // nil: roles are not enforced
	discover *discovery.Discovery
	openapi  *openapi.Documents
	openapi2 *openapi.V2
	tokens   *authn.ServiceAccounts
	services *registry.Services
	custom   *crd.Controller
	handler  http.Handler

	components components

	done  chan struct{} // closed when the end was asked for
	ready chan struct{} // closed when everything was read and the first objects are there
	end   sync.Once
}

// New opens the store and puts the server together. It returns once etcd answers.
func New(ctx context.Context, o Options) (*Server, error) {
	o.setDefaults()
	// The first write needs it, and making it takes as long as etcd's election, which is mostly waiting.
	go builtinTypes.get()
	st, err := openStore(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Server{workers: inprocess.NewWorkers(), options: o, log: o.Logger, store: st, done: make(chan struct{}), ready: make(chan struct{})}
	if err := s.assemble(); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return s, nil
}

// assemble makes everything that stands between the store and the listeners.
func (s *Server) assemble() error {
	all := resources.All()
	codecs := map[string]cache.Codec{}
	for _, r := range all {
		if r.ToStorage == nil && r.Stored() {
			codecs[r.Prefix] = registry.NewCodec(r)
		}
	}
	s.cache = cache.New(cache.Options{Store: s.store, Codecs: codecs, Logger: s.log})
	s.tokens = &authn.ServiceAccounts{Issuer: s.options.ServiceAccountIssuer, Key: s.options.ServiceAccountKey, Verifying: s.options.ServiceAccountPublicKeys,
		Audiences: []string{s.options.ServiceAccountIssuer}, Exists: s.exists, Now: s.options.Clock.Now}
	if err := s.authenticate(); err != nil {
		return err
	}
	if err := s.authorize(); err != nil {
		return err
	}
	s.handlers = handlers.New(handlers.Options{Scheme: types(), Logger: s.log, Done: s.done, Tokens: s.tokens, Kubelets: s.options.Kubelet, PodDial: s.options.PodDial, Authenticator: s.authn, Authorizer: s.authz})
	s.discover = &discovery.Discovery{ServerAddress: s.address()}
	s.openapi, s.openapi2 = openapi.New(), openapi.NewV2(time.Now())
	if err := s.register(all); err != nil {
		return err
	}
	s.handler = s.chain()
	return nil
}

// register makes each resource's registry.
func (s *Server) register(all []*resource.Resource) error {
	managers := &registry.Managers{Types: builtinTypes, Scheme: types()}
	s.services = registry.NewServices(registry.ServicesOptions{
		Registry: s.handlers.Registry, Store: s.store, ClusterIPs: s.options.ServiceClusterIPRange, NodePorts: s.options.ServiceNodePorts, Logger: s.log})
	chain := admission.New(objects{s.handlers}, s.extensions())
	chain.UseQuotas(quotas{s}, s.options.Clock.Now)
	if s.rbac != nil {
		chain.UseRoles(rbac.Escalation{Authorizer: s.authz, Rules: s.rbac}.Validate)
	}
	if err := s.switchPlugins(chain); err != nil {
		return err
	}
	for _, r := range all {
		if r.Question {
			s.handlers.Answer(r)
			continue
		}
		if r.Observed {
			s.handlers.Observe(r, s.componentStatuses)
			continue
		}
		o := registry.Options{Resource: r, Codec: registry.NewCodec(r), Store: s.store, Cache: s.cache, Admission: chain, Managers: managers, Now: s.options.Clock.Now}
		if r.Structure != "" {
			o.Managers = &registry.Managers{Types: structureOf(types(), r.Structure), Scheme: types()}
		}
		if r.ToStorage != nil {
			o.Codec = s.cache.Collection(r.Prefix).Codec().(registry.Codec)
		}
		if r.Kind == "Service" && r.Group == "" {
			o.Begin, o.AfterDelete = s.services.Begin, s.services.Release
		}
		reg, err := registry.New(o)
		if err != nil {
			return err
		}
		s.handlers.Add(reg)
	}
	s.discover.Add(all...)
	s.custom = crd.New(crd.Options{Definitions: s.handlers.Registry(apiextensions.Definition.GVR()), Store: s.store, Cache: s.cache, Handlers: s.handlers,
		Discovery: s.discover, OpenAPI: s.openapi, OpenAPIV2: s.openapi2, Admission: chain, Callout: s.callout(), Logger: s.log, Now: s.options.Clock.Now})
	return nil
}

func (s *Server) authenticate() error {
	s.authn = &authn.Authenticator{ClientCAs: s.options.ClientCAs, Now: time.Now} // certificates have real time
	if s.options.TokenAuthFile != "" {
		f, err := authn.ReadTokenFile(s.options.TokenAuthFile)
		if err != nil {
			return err
		}
		s.authn.Tokens = append(s.authn.Tokens, f)
	}
	if s.options.ServiceAccountKey != nil {
		s.authn.Tokens = append(s.authn.Tokens, s.tokens)
	}
	return nil
}

// address is where the server is reached, for documents that say so.
func (s *Server) address() string {
	if s.options.AdvertiseAddress.IsValid() {
		return net.JoinHostPort(s.options.AdvertiseAddress.String(), fmt.Sprint(s.options.AdvertisePort))
	}
	if len(s.options.Listeners) > 0 {
		return s.options.Listeners[0].Addr().String()
	}
	return "in-process"
}

// exists says whether an object that a token is bound to is there.
func (s *Server) exists(kind, namespace string, ref authn.Ref) bool {
	plural := map[string]string{"ServiceAccount": "serviceaccounts", "Pod": "pods", "Secret": "secrets", "Node": "nodes"}[kind]
	if kind == "Node" {
		namespace = ""
	}
	obj, err := objects{s.handlers}.Get("", plural, namespace, ref.Name)
	return err == nil && obj.GetUID() == ref.UID
}

// Ready is closed once /readyz says ok.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// RoundTripper is a transport into the server for a component of this process. It works while Run does.
func (s *Server) RoundTripper(i Identity) http.RoundTripper {
	u := &request.User{Name: i.Name, Groups: i.Groups}
	return &inprocess.Transport{Handler: s.handler, Workers: s.workers, Context: func(ctx context.Context) context.Context { return authn.InProcess(ctx, u) }}
}

// Run serves until ctx ends, then ends watches at once and everything else within moments.
func (s *Server) Run(ctx context.Context) error {
	cacheCtx, stopCache := context.WithCancel(context.WithoutCancel(ctx))
	defer stopCache()
	g, gctx := errgroup.WithContext(ctx)
	cacheDone := make(chan error, 1)
	go func() { cacheDone <- s.cache.Run(cacheCtx) }()
	go s.store.CompactEvery(cacheCtx, compactInterval, func(err error) { s.log.Warn("compacting etcd", "error", err) })
	for _, l := range s.options.Listeners {
		srv := s.httpServer()
		g.Go(func() error { return serve(gctx, srv, l, s.tlsConfig()) })
	}
	g.Go(func() error { return s.begin(gctx) })
	g.Go(func() error {
		select {
		case <-s.cache.Ready():
			return s.custom.Run(gctx)
		case <-gctx.Done():
			return nil
		}
	})
	g.Go(func() error {
		<-gctx.Done()
		s.end.Do(func() { close(s.done) })
		return nil
	})
	err := g.Wait()
	stopCache()
	err = errors.Join(err, <-cacheDone)
	return errors.Join(err, s.store.Close())
}

// begin waits until everything was read, makes the first objects and says ready. Then it keeps the conditions that are the server's to write.
func (s *Server) begin(ctx context.Context) error {
	select {
	case <-s.cache.Ready():
	case <-ctx.Done():
		return nil
	}
	select {
	case <-s.custom.Synced():
	case <-ctx.Done():
		return nil
	}
	own, err := s.ownClient()
	if err != nil {
		return err
	}
	repairs := s.newRepairer(own)
	if err := s.bootstrap(ctx, own, repairs); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("first objects: %w", err)
	}
	close(s.ready)
	s.log.Info("ready", "resources", len(resources.All()), "revision", s.cache.Revision())
	if err := s.registerGroups(ctx, resources.All()); err != nil && ctx.Err() == nil {
		s.log.Warn("registering group versions", "error", err)
	}
	var repairing sync.WaitGroup
	defer repairing.Wait()
	repairing.Go(func() { repairs.run(ctx) })
	repairing.Go(func() { s.keepPublished(ctx, own) })
	return s.keepConditions(ctx)
}

func (s *Server) tlsConfig() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{s.options.ServingCertificate}, ClientAuth: tls.RequestClientCert,
		ClientCAs: s.options.ClientCAs, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12,
	}
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 3 * time.Minute, MaxHeaderBytes: 1 << 20,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 1000, MaxReadFrameSize: 1 << 20, MaxReceiveBufferPerConnection: 4 << 20, MaxReceiveBufferPerStream: 1 << 20},
	}
}

// serve serves a listener until ctx ends.
func serve(ctx context.Context, srv *http.Server, l net.Listener, c *tls.Config) error {
	var connections busy
	srv.ConnState = connections.changed
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), stopGrace)
		defer cancel()
		// Shutdown would wait a second for clients to close what they keep open; what they asked is all that they wait for.
		idle, answered := context.WithCancel(grace)
		go func() {
			defer answered()
			connections.drain(grace)
		}()
		_ = srv.Shutdown(idle) // whatever is still open then is closed
		stopped <- srv.Close()
	})
	srv.TLSConfig = c
	err := srv.ServeTLS(l, "", "")
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return <-stopped
}

// Compact forgets all but the present versions of objects, as happens by itself after a while.
func (s *Server) Compact(ctx context.Context) error {
	latest, err := s.store.Latest(ctx)
	if err != nil {
		return err
	}
	return s.store.Compact(ctx, latest)
}
