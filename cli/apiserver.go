package cli

import (
	"cmp"
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/keyutil"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/cluster/pki"
)

type apiserverFlags struct {
	dataDir                                    string
	unsafeNoFsync                              bool
	etcdServers                                []string
	etcdCAFile, etcdCertFile, etcdKeyFile      string
	bindAddress                                string
	securePort                                 int
	advertiseAddress                           string
	certFile, keyFile, clientCAFile            string
	tokenAuthFile                              string
	certDir                                    string
	authorizationModes                         []string
	enablePlugins, disablePlugins              []string
	issuer, signingKeyFile                     string
	publicKeyFiles                             []string
	serviceRange, nodePorts                    string
	kubeletCertFile, kubeletKeyFile, kubeletCA string
	verbosity                                  int
}

func newAPIServer() *cobra.Command {
	var flags apiserverFlags
	return newAPIServerWith(&flags, func(command *cobra.Command) error { return runAPIServer(command, flags) })
}

// newAPIServerWith makes a command with the API server's flags.
func newAPIServerWith(flags *apiserverFlags, run func(*cobra.Command) error) *cobra.Command {
	command := &cobra.Command{
		Use:   "apiserver",
		Short: "Run the API server",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return run(command) },
	}
	set := command.Flags()
	set.StringVar(&flags.dataDir, "data-dir", "", "the directory of the embedded etcd, when no --etcd-servers are given")
	set.BoolVar(&flags.unsafeNoFsync, "unsafe-no-fsync", false, "let a crash of the machine lose what the embedded etcd holds, for speed")
	set.StringSliceVar(&flags.etcdServers, "etcd-servers", nil, "the URLs of an external etcd")
	set.StringVar(&flags.etcdCAFile, "etcd-cafile", "", "the authority of the etcd servers' certificates")
	set.StringVar(&flags.etcdCertFile, "etcd-certfile", "", "the client certificate to show to etcd")
	set.StringVar(&flags.etcdKeyFile, "etcd-keyfile", "", "the key of that certificate")
	set.StringVar(&flags.bindAddress, "bind-address", "0.0.0.0", "the address to serve on")
	set.IntVar(&flags.securePort, "secure-port", 6443, "the port to serve on")
	set.StringVar(&flags.advertiseAddress, "advertise-address", "", "the address at which pods reach this server (default: --bind-address, if it is one)")
	set.StringVar(&flags.certFile, "tls-cert-file", "", "the serving certificate (default: made for this run alone)")
	set.StringVar(&flags.keyFile, "tls-private-key-file", "", "the serving certificate's key")
	set.StringVar(&flags.certDir, "cert-dir", "", "the directory of apiserver.crt and apiserver.key, which are made there if they are missing; --tls-cert-file goes before it")
	set.StringSliceVar(&flags.authorizationModes, "authorization-mode", []string{"Node", "RBAC"}, "who decides, in order: Node, RBAC, AlwaysAllow")
	set.StringSliceVar(&flags.enablePlugins, "enable-admission-plugins", nil, "admission plugins that must be there; all that this server has are on")
	set.StringSliceVar(&flags.disablePlugins, "disable-admission-plugins", nil, "admission plugins to switch off")
	set.StringVar(&flags.clientCAFile, "client-ca-file", "", "the authority of clients' certificates (default: none are accepted)")
	set.StringVar(&flags.tokenAuthFile, "token-auth-file", "", "a CSV file of static tokens: token,name,uid,groups")
	set.StringVar(&flags.issuer, "service-account-issuer", "https://kubernetes.default.svc.cluster.local", "who issues ServiceAccount tokens")
	set.StringArrayVar(&flags.publicKeyFiles, "service-account-key-file", nil, "RSA or ECDSA keys, public or private, of which tokens are accepted besides those of the signing key; may be given several times")
	set.StringVar(&flags.signingKeyFile, "service-account-signing-key-file", "", "the RSA or ECDSA key that signs ServiceAccount tokens (default: made for this run alone)")
	set.StringVar(&flags.serviceRange, "service-cluster-ip-range", "10.96.0.0/16", "the range of Services' addresses")
	set.StringVar(&flags.nodePorts, "service-node-port-range", "30000-32767", "the range of node ports, both ends included")
	set.StringVar(&flags.kubeletCertFile, "kubelet-client-certificate", "", "the client certificate to show to kubelets")
	set.StringVar(&flags.kubeletKeyFile, "kubelet-client-key", "", "the key of that certificate")
	set.StringVar(&flags.kubeletCA, "kubelet-certificate-authority", "", "the authority of kubelets' serving certificates (default: they are not verified)")
	logFlag(command, &flags.verbosity)
	return command
}

func runAPIServer(command *cobra.Command, flags apiserverFlags) error {
	options, err := apiserverOptions(flags)
	if err != nil {
		return err
	}
	options.Logger = newLogger(command.ErrOrStderr(), flags.verbosity)
	listener, err := net.Listen("tcp", net.JoinHostPort(flags.bindAddress, fmt.Sprint(flags.securePort)))
	if err != nil {
		return fmt.Errorf("--bind-address, --secure-port: %w", err)
	}
	options.Listeners = []net.Listener{listener}
	server, err := apiserver.New(command.Context(), options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return server.Run(command.Context())
}

func apiserverOptions(flags apiserverFlags) (apiserver.Options, error) {
	options := apiserver.Options{
		DataDir: flags.dataDir, UnsafeNoFsync: flags.unsafeNoFsync, EtcdServers: flags.etcdServers,
		TokenAuthFile: flags.tokenAuthFile, ServiceAccountIssuer: flags.issuer, AdvertisePort: flags.securePort,
		AuthorizationModes: flags.authorizationModes, EnableAdmissionPlugins: flags.enablePlugins, DisableAdmissionPlugins: flags.disablePlugins,
	}
	if flags.dataDir == "" && len(flags.etcdServers) == 0 {
		return options, errors.New("one of --data-dir and --etcd-servers is needed")
	}
	steps := []func() error{
		func() (err error) { options.EtcdTLS, err = etcdTLS(flags); return err },
		func() (err error) { options.ServingCertificate, err = servingCertificate(flags); return err },
		func() (err error) { options.ServiceAccountKey, err = signingKey(flags); return err },
		func() (err error) {
			options.ServiceAccountPublicKeys, err = publicKeys(flags.publicKeyFiles)
			return err
		},
		func() (err error) { options.Kubelet.TLS, err = kubeletTLS(flags); return err },
		func() (err error) {
			options.AdvertiseAddress, err = advertised(flags.advertiseAddress, flags.bindAddress)
			return err
		},
		func() (err error) {
			options.ServiceNodePorts, err = portRange("service-node-port-range", flags.nodePorts)
			return err
		},
		func() (err error) {
			options.ServiceClusterIPRange, err = optionalPrefix("service-cluster-ip-range", flags.serviceRange)
			return err
		},
		func() (err error) {
			if flags.clientCAFile != "" {
				options.ClientCAs, err = readPool("client-ca-file", flags.clientCAFile)
			}
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return options, err
		}
	}
	return options, nil
}

// etcdTLS is nil when no flag asks for it.
func etcdTLS(flags apiserverFlags) (*tls.Config, error) {
	if flags.etcdCAFile == "" && flags.etcdCertFile == "" {
		return nil, nil
	}
	return clientTLS("etcd-cafile", flags.etcdCAFile, flags.etcdCertFile, flags.etcdKeyFile)
}

// kubeletTLS verifies kubelets only when their authority is given, as upstream does.
func kubeletTLS(flags apiserverFlags) (*tls.Config, error) {
	config, err := clientTLS("kubelet-certificate-authority", flags.kubeletCA, flags.kubeletCertFile, flags.kubeletKeyFile)
	if err != nil {
		return nil, err
	}
	config.InsecureSkipVerify = flags.kubeletCA == ""
	return config, nil
}

func clientTLS(caFlag, caFile, certFile, keyFile string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pool, err := readPool(caFlag, caFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if certFile != "" {
		certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s: %w", certFile, err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// servingCertificate reads the certificate, or makes one.
func servingCertificate(flags apiserverFlags) (tls.Certificate, error) {
	if flags.certFile != "" {
		certificate, err := tls.LoadX509KeyPair(flags.certFile, flags.keyFile)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("--tls-cert-file, --tls-private-key-file: %w", err)
		}
		return certificate, nil
	}
	if flags.certDir != "" {
		certificate, err := certificateIn(flags.certDir, func() ([]byte, []byte, error) {
			pair, err := ownPair(flags.bindAddress)
			return pair.Certificate, pair.Key, err
		})
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("--cert-dir: %w", err)
		}
		return certificate, nil
	}
	pair, err := ownPair(flags.bindAddress)
	if err != nil {
		return tls.Certificate{}, err
	}
	return pair.TLS()
}

// ownPair makes a serving certificate by an authority that is forgotten at once.
func ownPair(bindAddress string) (pki.Pair, error) {
	ca, err := pki.NewCA("kogge-apiserver")
	if err != nil {
		return pki.Pair{}, err
	}
	addresses := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}
	if bound, err := netip.ParseAddr(bindAddress); err == nil && !bound.IsUnspecified() {
		addresses = append(addresses, bound)
	}
	return ca.Server(serverNames, addresses)
}

// serverNames are the DNS names by which pods and people call the API server.
var serverNames = []string{
	"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost",
}

func signingKey(flags apiserverFlags) (crypto.Signer, error) {
	if flags.signingKeyFile == "" {
		return pki.NewServiceAccountKey()
	}
	key, err := keyutil.PrivateKeyFromFile(flags.signingKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("--service-account-signing-key-file: a key of type %T signs nothing", key)
	}
	return signer, nil
}

// publicKeys are those of all files.
func publicKeys(files []string) ([]crypto.PublicKey, error) {
	var out []crypto.PublicKey
	for _, file := range files {
		keys, err := keyutil.PublicKeysFromFile(file)
		if err != nil {
			return nil, fmt.Errorf("--service-account-key-file: %w", err)
		}
		for _, k := range keys {
			out = append(out, k)
		}
	}
	return out, nil
}

// advertised is where pods reach the server; not valid when no flag says so. A loopback address is of no use to
// them, nor is it valid in Endpoints.
func advertised(advertise, bind string) (netip.Addr, error) {
	address, err := netip.ParseAddr(cmp.Or(advertise, bind))
	if err != nil && advertise != "" {
		return netip.Addr{}, fmt.Errorf("--advertise-address: %w", err)
	}
	if err != nil || address.IsUnspecified() || address.IsLoopback() {
		return netip.Addr{}, nil
	}
	return address, nil
}

// portRange reads "first-last".
func portRange(flag, text string) ([2]int, error) {
	var ends [2]int
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "%d-%d", &ends[0], &ends[1]); err != nil {
		return ends, fmt.Errorf("--%s: %q is not FIRST-LAST", flag, text)
	}
	if ends[0] < 1 || ends[1] > 65535 || ends[0] > ends[1] {
		return ends, fmt.Errorf("--%s: %q is no range of ports", flag, text)
	}
	return ends, nil
}
