package kubelet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/rounds"
)

// Options of a Kubelet. NodeName, Config, Runtime, Images and NodeIP are required.
type Options struct {
	NodeName string
	// Config reaches the API server as system:node:NodeName.
	Config *rest.Config
	// Runtime and Images are the container runtime's services.
	Runtime runtimeapi.RuntimeServiceClient
	Images  runtimeapi.ImageServiceClient
	NodeIP  netip.Addr
	// Hostname is reported as an address of the node; NodeName by default.
	Hostname string

	// RootDir holds volumes and checkpoints (/var/lib/kubelet). "" makes a kubelet that touches no file of the
	// machine: for runtimes in memory.
	RootDir string
	// LogRoot is the folder of container logs; /var/log/pods by default, none without RootDir.
	LogRoot string
	// CgroupRoot is the cgroup, relative to the hierarchy's root, below which pods get theirs; "" makes no cgroups.
	CgroupRoot string
	// ResolvConf is the node's resolver configuration, for pods with dnsPolicy Default; /etc/resolv.conf by default.
	ResolvConf string

	// Listener serves logs, exec and port-forward over TLS with ServingCertificate, to clients with a certificate of
	// ClientCAs; nil serves nothing.
	Listener           net.Listener
	ServingCertificate *tls.Certificate
	ClientCAs          *x509.CertPool
	// Port is reported in the node's status; the Listener's by default.
	Port int32

	ClusterDNS    []netip.Addr
	ClusterDomain string

	// Labels and Taints are set when the node registers.
	Labels map[string]string
	Taints []v1.Taint
	// Capacity of the node; nil: measured.
	Capacity   v1.ResourceList
	ProviderID string
	// MaxPods is 110 by default.
	MaxPods int

	// Pods delivers the node's pods; nil: the kubelet watches the API itself.
	Pods PodSource
	// Events takes the kubelet's events; nil: the kubelet sends its own. Kubelets that share a process share one.
	Events record.EventBroadcaster

	// PodRange is registered as the node's range of pod addresses; invalid: the control plane chooses one.
	PodRange netip.Prefix
	// Rounds looks at the node again and again, Heartbeats renews its lease; nil: the kubelet has its own. Kubelets that
	// share a process share them.
	Rounds, Heartbeats *rounds.Rounds

	// StatusInterval is how often the node's status is looked at, 10 s by default; it is written when it changed, or
	// every StatusReport, 5 min by default. LeaseInterval is 10 s by default.
	StatusInterval time.Duration
	StatusReport   time.Duration
	LeaseInterval  time.Duration

	Clock  clock.WithTickerAndDelayedExecution
	Logger *slog.Logger
}

// Relisting a real runtime finds what its events left out; a pod is looked at again after resync for what has no
// event, such as tokens that expire.
const (
	relistInterval = 30 * time.Second
	resyncInterval = time.Minute
	defaultMaxPods = 110
)

func (o *Options) complete() error {
	switch {
	case o.NodeName == "":
		return errors.New("kubelet: the node's name is missing")
	case o.Config == nil:
		return errors.New("kubelet: the API server's address is missing")
	case o.Runtime == nil || o.Images == nil:
		return errors.New("kubelet: the container runtime is missing")
	case !o.NodeIP.IsValid():
		return errors.New("kubelet: the node's address is missing")
	}
	if o.Hostname == "" {
		o.Hostname = o.NodeName
	}
	if o.RootDir != "" && o.LogRoot == "" {
		o.LogRoot = "/var/log/pods"
	}
	if o.RootDir != "" {
		var err error
		if o.RootDir, err = filepath.Abs(o.RootDir); err != nil {
			return err
		}
	}
	if o.ResolvConf == "" {
		o.ResolvConf = "/etc/resolv.conf"
	}
	if o.ClusterDomain == "" {
		o.ClusterDomain = "cluster.local"
	}
	if o.MaxPods == 0 {
		o.MaxPods = defaultMaxPods
	}
	if address, ok := listenerAddress(o.Listener); ok && o.Port == 0 {
		o.Port = int32(address.Port)
	}
	if o.StatusInterval == 0 {
		o.StatusInterval = 10 * time.Second
	}
	if o.StatusReport == 0 {
		o.StatusReport = 5 * time.Minute
	}
	if o.LeaseInterval == 0 {
		o.LeaseInterval = 10 * time.Second
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "kubelet", "node", o.NodeName)
	return nil
}

func listenerAddress(listener net.Listener) (*net.TCPAddr, bool) {
	if listener == nil {
		return nil, false
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	return address, ok
}
