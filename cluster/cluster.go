package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/cluster/faults"
	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/kubeconfig"
	"github.com/kogge-dev/kogge/cluster/pki"
	"github.com/kogge-dev/kogge/cluster/stages"
	"github.com/kogge-dev/kogge/controllers"
	"github.com/kogge-dev/kogge/scheduler"
)

// Ranges of addresses that a cluster hands out.
var (
	PodRange     = netip.MustParsePrefix("10.244.0.0/16")
	ServiceRange = netip.MustParsePrefix("10.96.0.0/16")
)

// AuthorizationModes are how a cluster decides who may do what, unless it is told otherwise.
var AuthorizationModes = []string{"Node", "RBAC"}

// ControllerManager is who all controllers of a process are together. Upstream gives each its own ServiceAccount, and the manager the
// rights to do so; one identity for all needs the rights of all.
var ControllerManager = apiserver.Identity{Name: "system:kube-controller-manager", Groups: []string{"system:masters"}}

// Identities of other components.
var (
	admin      = apiserver.Identity{Name: "kubernetes-admin", Groups: []string{"system:masters"}}
	scheduling = apiserver.Identity{Name: "system:kube-scheduler"}
)

// Options of a cluster.
type Options struct {
	// Nodes is how many simulated nodes there are from the beginning, called node-0, node-1 and so on.
	Nodes int
	// NodeTemplate is what simulated nodes are like: capacity, labels, taints, zones.
	NodeTemplate NodeTemplate
	// PodRules say how pods on simulated nodes behave that have no annotations about it; the first that matches counts.
	PodRules []PodRule
	// Stages are how objects live, in the words of kwok; stages.Load reads them from files. With one for pods, those on simulated nodes
	// live by these alone.
	Stages []stages.Stage
	// Dir keeps the cluster's data, in etcd; empty: memory does, until Stop.
	Dir string
	// From is what the cluster begins with, for instance what another one was; nil: with what Dir holds. A Dir is made to hold it
	// and nothing else.
	From *Snapshot
	// Clock is the time that the cluster's components see, for instance NewClock's, which the test moves; nil: real time. The package's
	// documentation names what does not follow it.
	Clock clock.WithTickerAndDelayedExecution
	// Controllers says which controllers run, in the syntax of upstream's --controllers; nil: all, empty: none.
	Controllers []string
	// WithoutScheduler leaves pods where they are.
	WithoutScheduler bool
	// Scheduler is the scheduler's configuration, as scheduler/configuration reads it from a file; nil: the default profile alone.
	Scheduler *configv1.KubeSchedulerConfiguration
	// Address is where the API server listens; empty: a free port of 127.0.0.1.
	Address string
	// ServiceRange is the range of Services' addresses; invalid: the package's ServiceRange.
	ServiceRange netip.Prefix
	// AuthorizationModes are upstream's names, in order; nil: the package's AuthorizationModes.
	AuthorizationModes []string
	// EnableAdmissionPlugins and DisableAdmissionPlugins are upstream's names; all that the API server has are on.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// Requests is how many of the last requests Requests gives; 0: none.
	Requests int
	// Logger takes what the components say; nil: nobody hears it.
	Logger *slog.Logger
}

// Cluster is a running cluster.
type Cluster struct {
	options Options
	log     *slog.Logger
	ca      *pki.CA
	server  *apiserver.Server
	faults  *faults.Set
	address string
	admin   pki.Pair

	cancel context.CancelFunc
	group  *errgroup.Group
	ctx    context.Context // of everything that runs
	once   sync.Once
	err    error

	reach    atomic.Pointer[fleet.Fleet] // the fleet, for who must not wait for mu
	mu       sync.Mutex                  // guards what follows
	fleet    *fleet.Fleet                // nil without simulated nodes
	webhooks *WebhookServer
}

// Start starts a cluster and returns once its API server is ready; controllers and nodes follow within moments.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{options: o, log: o.Logger, faults: faults.New(o.Requests)}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if err := controllers.Check(o.Controllers); err != nil {
		return nil, err
	}
	for i := range o.Stages {
		if err := stages.Validate(o.Stages[i]); err != nil {
			return nil, err
		}
	}
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.startServer(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.startComponents(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.AddNodes(o.Nodes); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	if err := c.playStages(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// prepare makes keys.
func (c *Cluster) prepare() (err error) {
	if c.options.AuthorizationModes == nil {
		c.options.AuthorizationModes = AuthorizationModes
	}
	if c.options.Clock == nil {
		c.options.Clock = clock.RealClock{}
	}
	if !c.options.ServiceRange.IsValid() {
		c.options.ServiceRange = ServiceRange
	}
	if c.ca, err = pki.NewCA("kogge"); err != nil {
		return err
	}
	c.admin, err = c.ca.Client(admin.Name, admin.Groups)
	return err
}

func (c *Cluster) startServer(ctx context.Context) error {
	// The port is held from here on: nobody can take it before the server listens.
	l, err := net.Listen("tcp", cmp.Or(c.options.Address, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	c.address = l.Addr().String()
	options, err := c.serverOptions(l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if c.server, err = apiserver.New(ctx, options); err != nil {
		return errors.Join(err, l.Close())
	}
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.group, c.ctx = errgroup.WithContext(runCtx)
	serverCtx, stopServer := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- c.server.Run(serverCtx) }()
	c.group.Go(func() error {
		defer stopServer()
		select {
		case err := <-served:
			return err
		case <-c.ctx.Done():
			stopServer()
			return <-served
		}
	})
	select {
	case <-c.server.Ready():
		return nil
	case <-c.ctx.Done():
		return fmt.Errorf("API server: %w", c.group.Wait())
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Cluster) serverOptions(l net.Listener) (apiserver.Options, error) {
	o := apiserver.Options{
		Memory: c.options.Dir == "", DataDir: c.options.Dir + "/etcd", From: c.options.From, Clock: c.options.Clock, Intercept: c.faults.Handler, InterceptCallouts: c.faults.Callouts, Listeners: []net.Listener{l}, ClientCAs: c.ca.Pool(),
		ServiceClusterIPRange: c.options.ServiceRange, Logger: c.log.With("component", "kube-apiserver"),
		AuthorizationModes: c.options.AuthorizationModes, EnableAdmissionPlugins: c.options.EnableAdmissionPlugins, DisableAdmissionPlugins: c.options.DisableAdmissionPlugins,
	}
	if port, ok := l.Addr().(*net.TCPAddr); ok {
		o.AdvertiseAddress, o.AdvertisePort = hostAddress(), port.Port
	}
	serving, err := c.ca.Server([]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, []netip.Addr{netip.MustParseAddr("127.0.0.1"), c.options.ServiceRange.Masked().Addr().Next()})
	if err != nil {
		return o, err
	}
	if o.ServingCertificate, err = serving.TLS(); err != nil {
		return o, err
	}
	if o.ServiceAccountKey, err = pki.NewServiceAccountKey(); err != nil {
		return o, err
	}
	toKubelets, err := c.ca.Client("kube-apiserver-kubelet-client", []string{"system:masters"})
	if err != nil {
		return o, err
	}
	certificate, err := toKubelets.TLS()
	if err != nil {
		return o, err
	}
	o.Kubelet = apiserver.KubeletClient{Dial: c.dialKubelet, TLS: &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: c.ca.Pool()}}
	return o, nil
}

// hostAddress is the host's first address that Endpoints may hold: the "kubernetes" Service has them although
// nobody is to reach the server there. Without one, the Service has no endpoints.
func hostAddress() netip.Addr {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && p.Addr().IsGlobalUnicast() {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

func (c *Cluster) startComponents() error {
	if enabled := c.options.Controllers; enabled == nil || len(enabled) > 0 {
		c.component("controller-manager", func(ctx context.Context) error {
			return controllers.Run(ctx, controllers.Options{Config: c.inProcess(ControllerManager), Logger: c.log.With("component", "kube-controller-manager"),
				RootCA: c.ca.PEM(), SigningCA: c.ca.Signing(), ClusterCIDR: PodRange, Enabled: enabled, Clock: c.options.Clock})
		})
	}
	if c.options.WithoutScheduler {
		return nil
	}
	s, err := scheduler.New(scheduler.Options{Config: c.inProcess(scheduling), Logger: c.log.With("component", "kube-scheduler"), Configuration: c.options.Scheduler, Clock: c.options.Clock})
	if err != nil {
		return err
	}
	c.component("scheduler", s.Run)
	return nil
}

// component runs a part of the control plane until the cluster stops.
func (c *Cluster) component(name string, run func(context.Context) error) {
	run = c.server.Component(name, run)
	c.group.Go(func() error { return run(c.ctx) })
}

// inProcess is a configuration that reaches the server without any socket.
func (c *Cluster) inProcess(i apiserver.Identity) *rest.Config {
	return InProcess(c.server.RoundTripper(i))
}

// InProcess is a configuration for a transport into a server of this process.
func InProcess(t http.RoundTripper) *rest.Config {
	return &rest.Config{Host: "https://kogge.in-process", Transport: t, QPS: -1, WarningHandler: rest.NoWarnings{},
		ContentConfig: rest.ContentConfig{AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json", ContentType: "application/vnd.kubernetes.protobuf"}}
}

// RESTConfig is the administrator's, over HTTP/2 on a port that has been the server's from the beginning.
func (c *Cluster) RESTConfig() *rest.Config { return c.restConfig(c.admin) }

func (c *Cluster) restConfig(who pki.Pair) *rest.Config {
	return &rest.Config{Host: "https://" + c.address, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.PEM(), CertData: who.Certificate, KeyData: who.Key}}
}

// AddUser makes a user, who is known by a client certificate. It gives the user's configuration, over HTTP/2.
func (c *Cluster) AddUser(name string, groups ...string) (*rest.Config, error) {
	pair, err := c.ca.Client(name, groups)
	if err != nil {
		return nil, err
	}
	return c.restConfig(pair), nil
}

// Kubeconfig is the administrator's configuration as the content of a file, for kubectl and the like.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	return kubeconfig.Entry{Name: "kogge", Server: "https://" + c.address, CA: c.ca.PEM(), Client: c.admin}.Encode()
}

// InProcessConfig is the administrator's, without any socket. Streams such as exec need RESTConfig.
func (c *Cluster) InProcessConfig() *rest.Config { return c.inProcess(admin) }

// Stop ends everything, open watches at once, and removes what was temporary. It returns the first error that a component ended with.
func (c *Cluster) Stop() error {
	c.once.Do(func() {
		if c.cancel != nil {
			c.cancel()
		}
		if c.group != nil {
			if err := c.group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
				c.err = err
			}
		}
		if c.webhooks != nil {
			c.err = errors.Join(c.err, os.RemoveAll(c.webhooks.CertDir))
		}
	})
	return c.err
}
