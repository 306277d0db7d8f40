package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/kubeconfig"
	"github.com/kogge-dev/kogge/cluster/pki"
	"github.com/kogge-dev/kogge/controllers"
	"github.com/kogge-dev/kogge/internal/gcpace"
	"github.com/kogge-dev/kogge/internal/netns"
	"github.com/kogge-dev/kogge/proxy/podroutes"
	"github.com/kogge-dev/kogge/scheduler"
)

// serverFlags are those of the whole control plane in one process. Certificates are made from one directory of
// keys, so there are fewer than the components have.
type serverFlags struct {
	dataDir, pkiDir, adminKubeconfig     string
	unsafeNoFsync                        bool
	etcdServers                          []string
	bindAddress, advertiseAddress        string
	securePort                           int
	tokenAuthFile, issuer                string
	serviceRange, nodePorts, clusterCIDR string
	nodeMaskSize                         int
	enabled                              []string
	nodeNamespace                        string
	nodeSecurePort                       int
	imageMirrorDir                       string
	imageMirrorPort                      int
	pullTokenFile                        string
	pullPort                             int
	simulationFile                       string
	verbosity                            int
}

func newServer() *cobra.Command {
	var flags serverFlags
	command := &cobra.Command{
		Use:   "server",
		Short: "Run API server, controllers and scheduler in one process",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return runServer(command, flags) },
	}
	set := command.Flags()
	set.StringVar(&flags.dataDir, "data-dir", "", "the directory of the embedded etcd")
	set.StringVar(&flags.pkiDir, "pki-dir", "", "the directory of the cluster's keys, made when missing (default: pki beside --data-dir)")
	set.StringVar(&flags.adminKubeconfig, "admin-kubeconfig", "", "where to write an administrator's kubeconfig")
	set.BoolVar(&flags.unsafeNoFsync, "unsafe-no-fsync", false, "let a crash of the machine lose what the embedded etcd holds, for speed")
	set.StringSliceVar(&flags.etcdServers, "etcd-servers", nil, "the URLs of an external etcd")
	set.StringVar(&flags.bindAddress, "bind-address", "127.0.0.1", "the address to serve on")
	set.IntVar(&flags.securePort, "secure-port", 6443, "the port to serve on")
	set.StringVar(&flags.advertiseAddress, "advertise-address", "", "the address at which nodes and pods reach the server (default: --bind-address)")
	set.StringVar(&flags.tokenAuthFile, "token-auth-file", "", "a CSV file of static tokens: token,name,uid,groups")
	set.StringVar(&flags.issuer, "service-account-issuer", "https://kubernetes.default.svc.cluster.local", "who issues ServiceAccount tokens")
	set.StringVar(&flags.serviceRange, "service-cluster-ip-range", "10.96.0.0/16", "the range of Services' addresses")
	set.StringVar(&flags.nodePorts, "service-node-port-range", "30000-32767", "the range of node ports, both ends included")
	set.StringVar(&flags.clusterCIDR, "cluster-cidr", "", "the pods' range, to be shared out among the nodes")
	set.IntVar(&flags.nodeMaskSize, "node-cidr-mask-size", 0, "the length of each node's share (default: 24, for IPv6 64)")
	set.StringSliceVar(&flags.enabled, "controllers", []string{"*"}, `which controllers run: "*" for all, "name", or "-name" for not that one`)
	set.StringVar(&flags.nodeNamespace, "node-network-namespace", "", "the network namespace in which the nodes are, to serve --advertise-address there too")
	set.IntVar(&flags.nodeSecurePort, "node-secure-port", 6443, "the port to serve on in --node-network-namespace")
	set.StringVar(&flags.imageMirrorDir, "image-mirror-dir", "", "image archives to serve as a registry in --node-network-namespace")
	set.IntVar(&flags.imageMirrorPort, "image-mirror-port", 5000, "the port to serve --image-mirror-dir on")
	set.StringVar(&flags.pullTokenFile, "pull-proxy-token-file", "", "the token of a proxy to registries, to be served in --node-network-namespace")
	set.IntVar(&flags.pullPort, "pull-proxy-port", 3128, "the port of the proxy to registries")
	set.StringVar(&flags.simulationFile, "simulation", "", "a file that says how many simulated nodes there are and what they are like; read again at SIGHUP")
	logFlag(command, &flags.verbosity)
	return command
}

func runServer(command *cobra.Command, flags serverFlags) error {
	ctx, logger := command.Context(), newLogger(command.ErrOrStderr(), flags.verbosity)
	if flags.pkiDir == "" {
		flags.pkiDir = filepath.Join(filepath.Dir(filepath.Clean(flags.dataDir)), "pki")
	}
	keys, err := pki.LoadOrCreate(flags.pkiDir)
	if err != nil {
		return err
	}
	options, err := serverOptions(flags, keys, logger)
	if err != nil {
		return err
	}
	simulated := &simulation{file: flags.simulationFile}
	simulated.reachable(&options)
	if options.Listeners, err = serverListeners(ctx, flags); err != nil {
		return err
	}
	// Port 0 is whichever was free.
	flags.securePort = options.Listeners[0].Addr().(*net.TCPAddr).Port
	if flags.nodeNamespace == "" {
		options.AdvertisePort = flags.securePort
	}
	if err := writeAdminKubeconfig(flags, keys); err != nil {
		return err
	}
	server, err := apiserver.New(ctx, options)
	if err != nil {
		return errors.Join(err, closeAll(options.Listeners))
	}
	runs, err := components(flags, keys, server, logger)
	if err != nil {
		return errors.Join(err, closeAll(options.Listeners))
	}
	together := []func(context.Context) error{server.Run, gcpace.Run}
	images, err := imageServers(flags, logger)
	if err != nil {
		return errors.Join(err, closeAll(options.Listeners))
	}
	together = append(together, images...)
	if flags.simulationFile != "" {
		runs = append(runs, func(ctx context.Context) error { return simulated.run(ctx, server, keys.CA, logger) })
	}
	for _, run := range runs {
		together = append(together, whenReady(server, run))
	}
	return runTogether(ctx, together)
}

func serverOptions(flags serverFlags, keys *pki.Keys, logger *slog.Logger) (apiserver.Options, error) {
	options := apiserver.Options{
		DataDir: flags.dataDir, UnsafeNoFsync: flags.unsafeNoFsync, EtcdServers: flags.etcdServers,
		TokenAuthFile: flags.tokenAuthFile, ClientCAs: keys.CA.Pool(),
		ServiceAccountIssuer: flags.issuer, ServiceAccountKey: keys.ServiceAccount, Logger: logger,
		AuthorizationModes: cluster.AuthorizationModes,
	}
	if flags.dataDir == "" {
		return options, errors.New("--data-dir is needed")
	}
	var err error
	if options.ServiceClusterIPRange, err = optionalPrefix("service-cluster-ip-range", flags.serviceRange); err != nil {
		return options, err
	}
	if options.ServiceNodePorts, err = portRange("service-node-port-range", flags.nodePorts); err != nil {
		return options, err
	}
	if options.AdvertiseAddress, err = advertised(flags.advertiseAddress, flags.bindAddress); err != nil {
		return options, err
	}
	options.AdvertisePort = flags.securePort
	if flags.nodeNamespace != "" {
		options.AdvertisePort = flags.nodeSecurePort
		options.Kubelet.Dial = netns.Open(flags.nodeNamespace).DialContext
		options.PodDial = options.Kubelet.Dial
	}
	serving, err := keys.CA.Server(serverNames, flags.addresses(options))
	if err != nil {
		return options, err
	}
	if options.ServingCertificate, err = serving.TLS(); err != nil {
		return options, err
	}
	client, err := keys.CA.Client("kube-apiserver-kubelet-client", []string{"system:masters"})
	if err != nil {
		return options, err
	}
	certificate, err := client.TLS()
	if err != nil {
		return options, err
	}
	options.Kubelet.TLS = &tls.Config{RootCAs: keys.CA.Pool(), Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return options, nil
}

// addresses are those by which the server is called.
func (f serverFlags) addresses(options apiserver.Options) []netip.Addr {
	addresses := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}
	if bound, err := netip.ParseAddr(f.bindAddress); err == nil && !bound.IsUnspecified() {
		addresses = append(addresses, bound)
	}
	if options.AdvertiseAddress.IsValid() {
		addresses = append(addresses, options.AdvertiseAddress)
	}
	if options.ServiceClusterIPRange.IsValid() {
		// The Service "kubernetes" has the range's first address.
		addresses = append(addresses, options.ServiceClusterIPRange.Masked().Addr().Next())
	}
	return addresses
}

// serverListeners opens the host's listener, and that of the nodes' network namespace.
func serverListeners(ctx context.Context, flags serverFlags) ([]net.Listener, error) {
	host, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(flags.bindAddress, fmt.Sprint(flags.securePort)))
	if err != nil {
		return nil, fmt.Errorf("--bind-address, --secure-port: %w", err)
	}
	if flags.nodeNamespace == "" {
		return []net.Listener{host}, nil
	}
	inside, err := netns.Open(flags.nodeNamespace).Listen(ctx, "tcp", net.JoinHostPort(flags.advertiseAddress, fmt.Sprint(flags.nodeSecurePort)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--node-network-namespace: %w", err), host.Close())
	}
	return []net.Listener{host, inside}, nil
}

func closeAll(listeners []net.Listener) error {
	var failures []error
	for _, listener := range listeners {
		failures = append(failures, listener.Close())
	}
	return errors.Join(failures...)
}

func writeAdminKubeconfig(flags serverFlags, keys *pki.Keys) error {
	if flags.adminKubeconfig == "" {
		return nil
	}
	client, err := keys.CA.Client("kubernetes-admin", []string{"system:masters"})
	if err != nil {
		return err
	}
	server := "https://" + net.JoinHostPort(flags.bindAddress, fmt.Sprint(flags.securePort))
	return kubeconfig.Write(flags.adminKubeconfig, kubeconfig.Entry{Name: "kogge", Server: server, CA: keys.CA.PEM(), Client: client})
}

// components are what runs beside the API server in the same process, each under its own name.
func components(flags serverFlags, keys *pki.Keys, server *apiserver.Server, logger *slog.Logger) ([]func(context.Context) error, error) {
	clusterCIDR, err := optionalPrefix("cluster-cidr", flags.clusterCIDR)
	if err != nil {
		return nil, err
	}
	schedule, err := scheduler.New(scheduler.Options{Config: inProcess(server, "system:kube-scheduler"), Logger: logger})
	if err != nil {
		return nil, err
	}
	runs := []func(context.Context) error{
		server.Component("scheduler", schedule.Run),
		server.Component("controller-manager", func(ctx context.Context) error {
			return controllers.Run(ctx, controllers.Options{
				Config: cluster.InProcess(server.RoundTripper(cluster.ControllerManager)), Logger: logger, RootCA: keys.CA.PEM(), SigningCA: keys.CA.Signing(),
				ClusterCIDR: clusterCIDR, NodeCIDRMaskSize: flags.nodeMaskSize, Enabled: flags.enabled,
			})
		}),
	}
	if flags.nodeNamespace == "" {
		return runs, nil
	}
	// So that the server reaches pods, and their answers find the way back.
	routes, err := podroutes.New(podroutes.Options{
		Config: inProcess(server, "system:kube-proxy"), Inside: netns.Open(flags.nodeNamespace).Do, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	return append(runs, routes.Run), nil
}

// inProcess is a client configuration that goes through the whole server without a socket.
func inProcess(server *apiserver.Server, name string) *rest.Config {
	return cluster.InProcess(server.RoundTripper(apiserver.Identity{Name: name}))
}
