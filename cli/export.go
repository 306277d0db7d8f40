package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island"
)

func newExport() *cobra.Command {
	command := &cobra.Command{Use: "export", Short: "Export a cluster's kubeconfig"}
	command.AddCommand(newExportKubeconfig())
	return command
}

func newExportKubeconfig() *cobra.Command {
	var name, explicit string
	command := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Merge a cluster into a kubeconfig, and select its context",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			directory, _, err := existing(name)
			if err != nil {
				return err
			}
			file, err := mergeKubeconfig(directory, name, explicit)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.ErrOrStderr(), "Context %q is selected in %s.\n", island.ContextName(name), file)
			return nil
		},
	}
	nameFlag(command, &name)
	command.Flags().StringVar(&explicit, "kubeconfig", "", "the kubeconfig to write to (default: $KUBECONFIG or ~/.kube/config)")
	return command
}
