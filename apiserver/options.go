package apiserver

import (
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/apiserver/handlers"
)

// KubeletClient is how the server reaches kubelets, for logs and streams.
type KubeletClient = handlers.Kubelets

// Identity is who a component of this process is.
type Identity struct {
	Name   string
	Groups []string
}

// Options of a server.
type Options struct {
	// Memory keeps all objects in this process and none after its end; what says where etcd is is ignored then.
	Memory bool
	// From is what the server begins with; nil: with what is stored. A store on disk is made to hold it and nothing else.
	From *Snapshot
	// Clock is the time that objects, tokens and keys in memory see; nil: real time. Certificates, connections and etcd have real time.
	Clock clock.WithTicker

	// Intercept, if set, stands between authentication and authorization; the request's context tells who asks for what.
	Intercept func(next http.Handler) http.Handler
	// InterceptCallouts, if set, stands before the server's calls to webhooks.
	InterceptCallouts func(next http.RoundTripper) http.RoundTripper

	// DataDir is the embedded etcd's folder. Ignored with EtcdServers.
	DataDir string
	// UnsafeNoFsync makes the embedded etcd faster and lets a crash of the machine lose data.
	UnsafeNoFsync bool
	// EtcdServers are the endpoints of an external etcd, with EtcdTLS if it wants it.
	EtcdServers []string
	EtcdTLS     *tls.Config

	// Listeners are plain; the server puts TLS on top. None: the server is reached in process only.
	Listeners          []net.Listener
	ServingCertificate tls.Certificate
	// ClientCAs sign client certificates.
	ClientCAs *x509.CertPool
	// TokenAuthFile is a CSV file of static bearer tokens; empty: none.
	TokenAuthFile string

	// AdvertiseAddress and AdvertisePort are where pods reach the server: the endpoint of the Service "kubernetes". Unset: none is published.
	AdvertiseAddress netip.Addr
	AdvertisePort    int

	ServiceAccountIssuer string
	// ServiceAccountKey signs tokens: RSA or ECDSA. Nil: no ServiceAccount has one.
	ServiceAccountKey crypto.Signer
	// ServiceAccountPublicKeys are those of further keys whose tokens hold.
	ServiceAccountPublicKeys []crypto.PublicKey

	ServiceClusterIPRange netip.Prefix
	// ServiceNodePorts is the range of node ports, both ends included; zero: 30000-32767.
	ServiceNodePorts [2]int

	// AuthorizationModes are upstream's names, in order: "Node", "RBAC", "AlwaysAllow". Administrators may do everything in any mode. None:
	// every authenticated user may, and roles are kept without being enforced.
	AuthorizationModes []string
	// EnableAdmissionPlugins and DisableAdmissionPlugins are upstream's names. All plugins that this server has are on unless
	// they are disabled.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string

	Kubelet KubeletClient
	// PodDial reaches addresses of pods, where webhooks are that a Service names; nil: the plain network.
	PodDial func(ctx context.Context, network, address string) (net.Conn, error)
	Logger  *slog.Logger
}

func (o *Options) setDefaults() {
	if o.ServiceAccountIssuer == "" {
		o.ServiceAccountIssuer = "https://kubernetes.default.svc.cluster.local"
	}
	if !o.ServiceClusterIPRange.IsValid() {
		o.ServiceClusterIPRange = netip.MustParsePrefix("10.96.0.0/16")
	}
	if o.ServiceNodePorts == [2]int{} {
		o.ServiceNodePorts = [2]int{30000, 32767}
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
