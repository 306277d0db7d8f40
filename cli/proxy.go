package cli

import (
	"context"
	"fmt"
	"net/netip"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/kogge-dev/kogge/proxy"
	"github.com/kogge-dev/kogge/proxy/podroutes"
)

type proxyFlags struct {
	kubeconfig, nodeName, clusterCIDR, cniConfDir string
	podNetwork                                    bool
	verbosity                                     int
}

func newProxy() *cobra.Command {
	var flags proxyFlags
	command := &cobra.Command{
		Use:   "proxy",
		Short: "Run the proxy: Services by nftables, and on request the routes between nodes' pods",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return runProxy(command, flags) },
	}
	kubeconfigFlag(command, &flags.kubeconfig)
	command.Flags().StringVar(&flags.nodeName, "hostname-override", "", "the name of this node (default: the host name)")
	command.Flags().StringVar(&flags.clusterCIDR, "cluster-cidr", "", "the pods' range: other sources of traffic to Services are masqueraded")
	command.Flags().BoolVar(&flags.podNetwork, "pod-network", false, "keep the routes to other nodes' pods, and write the CNI configuration")
	command.Flags().StringVar(&flags.cniConfDir, "cni-conf-dir", "/etc/cni/net.d", "where to write the CNI configuration")
	logFlag(command, &flags.verbosity)
	return command
}

func runProxy(command *cobra.Command, flags proxyFlags) error {
	logger := newLogger(command.ErrOrStderr(), flags.verbosity)
	config, err := clientConfig(flags.kubeconfig)
	if err != nil {
		return err
	}
	nodeName, err := nodeName(flags.nodeName)
	if err != nil {
		return err
	}
	clusterCIDR, err := optionalPrefix("cluster-cidr", flags.clusterCIDR)
	if err != nil {
		return err
	}
	services, err := proxy.New(proxy.Options{Config: config, NodeName: nodeName, ClusterCIDR: clusterCIDR, Logger: logger})
	if err != nil {
		return err
	}
	runs := []func(context.Context) error{services.Run}
	if flags.podNetwork {
		routes, err := podroutes.New(podroutes.Options{Config: config, NodeName: nodeName, ConfigDir: flags.cniConfDir, Logger: logger})
		if err != nil {
			return err
		}
		runs = append(runs, routes.Run)
	}
	return runTogether(command.Context(), runs)
}

// runTogether runs all until ctx is done or one of them fails; then all end.
func runTogether(ctx context.Context, runs []func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range runs {
		group.Go(func() error { return run(ctx) })
	}
	return group.Wait()
}

func nodeName(override string) (string, error) {
	if override != "" {
		return override, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the node's name: %w", err)
	}
	return name, nil
}

// optionalPrefix reads an address range from a flag that may be empty.
func optionalPrefix(flag, text string) (netip.Prefix, error) {
	if text == "" {
		return netip.Prefix{}, nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("--%s: %w", flag, err)
	}
	return prefix.Masked(), nil
}
