package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet"
)

type kubeletFlags struct {
	kubeconfig, nodeName, nodeIP, rootDir, runtimeEndpoint string
	address                                                string
	port                                                   int
	clientCAFile, certFile, keyFile                        string
	cgroupRoot, clusterDomain, resolvConf                  string
	clusterDNS                                             []string
	providerID                                             string
	labels                                                 map[string]string
	maxPods                                                int
	verbosity                                              int
}

func newKubelet() *cobra.Command {
	var flags kubeletFlags
	command := &cobra.Command{
		Use:   "kubelet",
		Short: "Run the kubelet: pods on this node, through a container runtime",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return runKubelet(command, flags) },
	}
	set := command.Flags()
	kubeconfigFlag(command, &flags.kubeconfig)
	set.StringVar(&flags.nodeName, "hostname-override", "", "the name of this node (default: the host name)")
	set.StringVar(&flags.nodeIP, "node-ip", "", "the address that the node reports")
	set.StringVar(&flags.rootDir, "root-dir", "/var/lib/kubelet", "the directory of volumes and checkpoints")
	set.StringVar(&flags.runtimeEndpoint, "container-runtime-endpoint", "unix:///run/containerd/containerd.sock", "the runtime's socket")
	set.StringVar(&flags.address, "address", "0.0.0.0", "the address to serve on")
	set.IntVar(&flags.port, "port", 10250, "the port to serve on")
	set.StringVar(&flags.clientCAFile, "client-ca-file", "", "the authority of clients' certificates")
	set.StringVar(&flags.certFile, "tls-cert-file", "", "the serving certificate")
	set.StringVar(&flags.keyFile, "tls-private-key-file", "", "the serving certificate's key")
	set.StringVar(&flags.cgroupRoot, "cgroup-root", "/", "the cgroup below which pods get theirs")
	set.StringVar(&flags.clusterDomain, "cluster-domain", "cluster.local", "the cluster's DNS domain")
	set.StringSliceVar(&flags.clusterDNS, "cluster-dns", nil, "the addresses of the cluster's DNS")
	set.StringVar(&flags.resolvConf, "resolv-conf", "/etc/resolv.conf", "the resolver configuration for pods that use the node's")
	set.StringVar(&flags.providerID, "provider-id", "", "the node's identifier at its provider")
	set.StringToStringVar(&flags.labels, "node-labels", nil, "labels to register the node with")
	set.IntVar(&flags.maxPods, "max-pods", 110, "how many pods the node may run")
	logFlag(command, &flags.verbosity)
	return command
}

func runKubelet(command *cobra.Command, flags kubeletFlags) error {
	options, err := kubeletOptions(flags)
	if err != nil {
		return err
	}
	options.Logger = newLogger(command.ErrOrStderr(), flags.verbosity)
	connection, err := grpc.NewClient(runtimeTarget(flags.runtimeEndpoint), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		return fmt.Errorf("reach the container runtime: %w", err)
	}
	options.Runtime = runtimeapi.NewRuntimeServiceClient(connection)
	options.Images = runtimeapi.NewImageServiceClient(connection)
	running, err := kubelet.New(options)
	if err != nil {
		return errors.Join(err, connection.Close())
	}
	return errors.Join(running.Run(command.Context()), connection.Close())
}

// runtimeTarget makes a gRPC target of an endpoint, which upstream also accepts as a plain path.
func runtimeTarget(endpoint string) string {
	if strings.HasPrefix(endpoint, "/") {
		return "unix://" + endpoint
	}
	return endpoint
}

func kubeletOptions(flags kubeletFlags) (kubelet.Options, error) {
	options := kubelet.Options{
		RootDir: flags.rootDir, CgroupRoot: flags.cgroupRoot, ClusterDomain: flags.clusterDomain, ResolvConf: flags.resolvConf,
		ProviderID: flags.providerID, Labels: flags.labels, MaxPods: flags.maxPods,
	}
	var err error
	if options.Config, err = clientConfig(flags.kubeconfig); err != nil {
		return options, err
	}
	if options.NodeName, err = nodeName(flags.nodeName); err != nil {
		return options, err
	}
	if options.NodeIP, err = netip.ParseAddr(flags.nodeIP); err != nil {
		return options, fmt.Errorf("--node-ip: %w", err)
	}
	for _, text := range flags.clusterDNS {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return options, fmt.Errorf("--cluster-dns: %w", err)
		}
		options.ClusterDNS = append(options.ClusterDNS, address)
	}
	if options.ClientCAs, err = readPool("client-ca-file", flags.clientCAFile); err != nil {
		return options, err
	}
	certificate, err := tls.LoadX509KeyPair(flags.certFile, flags.keyFile)
	if err != nil {
		return options, fmt.Errorf("--tls-cert-file, --tls-private-key-file: %w", err)
	}
	options.ServingCertificate = &certificate
	options.Listener, err = net.Listen("tcp", net.JoinHostPort(flags.address, fmt.Sprint(flags.port)))
	if err != nil {
		return options, fmt.Errorf("--address, --port: %w", err)
	}
	return options, nil
}

// readPool reads certificates of authorities from the file that a flag names.
func readPool(flag, file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("--%s: %s holds no certificate", flag, file)
	}
	return pool, nil
}
