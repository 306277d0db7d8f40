package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island"
)

func newGet() *cobra.Command {
	command := &cobra.Command{Use: "get", Short: "Show clusters, nodes, or a kubeconfig"}
	command.AddCommand(newGetClusters(), newGetNodes(), newGetKubeconfig())
	return command
}

func newGetClusters() *cobra.Command {
	return &cobra.Command{
		Use:   "clusters",
		Short: "List the clusters on this machine",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			names, err := island.List()
			if err != nil {
				return err
			}
			if len(names) == 0 {
				fmt.Fprintln(command.ErrOrStderr(), "There are no clusters.")
			}
			for _, name := range names {
				fmt.Fprintln(command.OutOrStdout(), name)
			}
			return nil
		},
	}
}

func newGetNodes() *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   "nodes",
		Short: "List a cluster's nodes",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			directory, spec, err := existing(name)
			if err != nil {
				return err
			}
			for _, node := range spec.NodeList() {
				fmt.Fprintln(command.OutOrStdout(), node.Name)
			}
			simulation, err := directory.Simulation()
			if err != nil {
				return err
			}
			for index := range simulation.Nodes {
				fmt.Fprintln(command.OutOrStdout(), simulation.Template.Name(index))
			}
			return nil
		},
	}
	nameFlag(command, &name)
	return command
}

func newGetKubeconfig() *cobra.Command {
	var name string
	var internal bool
	command := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print a cluster's kubeconfig",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			directory, _, err := existing(name)
			if err != nil {
				return err
			}
			file := directory.AdminKubeconfig()
			if internal {
				file = directory.InternalKubeconfig()
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("read the cluster's kubeconfig: %w", err)
			}
			_, err = command.OutOrStdout().Write(content)
			return err
		},
	}
	nameFlag(command, &name)
	command.Flags().BoolVar(&internal, "internal", false, "with the address that nodes and pods use")
	return command
}

// existing finds a cluster that was created.
func existing(name string) (island.Directory, island.Spec, error) {
	directory, err := island.Locate(name)
	if err != nil {
		return "", island.Spec{}, err
	}
	if !directory.Exists() {
		return "", island.Spec{}, fmt.Errorf("there is no cluster %q", name)
	}
	spec, err := directory.Spec()
	return directory, spec, err
}
