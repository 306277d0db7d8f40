package cli

import (
	"crypto/tls"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/controllers"
)

type controllersFlags struct {
	kubeconfig, rootCAFile, clusterCIDR string
	signingCertFile, signingKeyFile     string
	nodeMaskSize                        int
	enabled                             []string
	leaderElect                         bool
	verbosity                           int
}

func newControllers() *cobra.Command {
	var flags controllersFlags
	command := &cobra.Command{
		Use:     "controllers",
		Aliases: []string{"controller-manager"},
		Short:   "Run the controllers",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return runControllers(command, flags) },
	}
	set := command.Flags()
	kubeconfigFlag(command, &flags.kubeconfig)
	set.StringVar(&flags.rootCAFile, "root-ca-file", "", "the authority to publish to every namespace")
	set.StringVar(&flags.signingCertFile, "cluster-signing-cert-file", "", "the authority that signs approved CertificateSigningRequests")
	set.StringVar(&flags.signingKeyFile, "cluster-signing-key-file", "", "the authority's key")
	set.StringVar(&flags.clusterCIDR, "cluster-cidr", "", "the pods' range, to be shared out among the nodes")
	set.IntVar(&flags.nodeMaskSize, "node-cidr-mask-size", 0, "the length of each node's share (default: 24, for IPv6 64)")
	set.StringSliceVar(&flags.enabled, "controllers", []string{"*"}, `which controllers run: "*" for all, "name", or "-name" for not that one`)
	set.BoolVar(&flags.leaderElect, "leader-elect", false, "let only one of several processes work at a time")
	logFlag(command, &flags.verbosity)
	return command
}

func runControllers(command *cobra.Command, flags controllersFlags) error {
	config, err := clientConfig(flags.kubeconfig)
	if err != nil {
		return err
	}
	clusterCIDR, err := optionalPrefix("cluster-cidr", flags.clusterCIDR)
	if err != nil {
		return err
	}
	rootCA := config.CAData
	if flags.rootCAFile != "" {
		if rootCA, err = os.ReadFile(flags.rootCAFile); err != nil {
			return fmt.Errorf("--root-ca-file: %w", err)
		}
	}
	var signing tls.Certificate
	if flags.signingCertFile != "" || flags.signingKeyFile != "" {
		if signing, err = tls.LoadX509KeyPair(flags.signingCertFile, flags.signingKeyFile); err != nil {
			return fmt.Errorf("--cluster-signing-cert-file and --cluster-signing-key-file: %w", err)
		}
	}
	return controllers.Run(command.Context(), controllers.Options{
		Config: config, Logger: newLogger(command.ErrOrStderr(), flags.verbosity), RootCA: rootCA, SigningCA: signing,
		ClusterCIDR: clusterCIDR, NodeCIDRMaskSize: flags.nodeMaskSize, Enabled: flags.enabled, LeaderElection: flags.leaderElect,
	})
}
