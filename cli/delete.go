package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island"
	"github.com/kogge-dev/kogge/cluster/kubeconfig"
)

func newDelete() *cobra.Command {
	command := &cobra.Command{Use: "delete", Short: "Delete a cluster"}
	command.AddCommand(newDeleteCluster())
	return command
}

func newDeleteCluster() *cobra.Command {
	var name, explicit string
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Delete a cluster with all it left on this machine; one that isn't there is no error",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			directory, err := island.Locate(name)
			if err != nil {
				return err
			}
			existed := directory.Exists()
			if err := island.Delete(command.Context(), directory); err != nil {
				return fmt.Errorf("delete cluster %q: %w", name, err)
			}
			if err := kubeconfig.Remove(explicit, island.ContextName(name)); err != nil {
				return err
			}
			if existed {
				fmt.Fprintf(command.ErrOrStderr(), "Deleted cluster %q.\n", name)
			} else {
				fmt.Fprintf(command.ErrOrStderr(), "There is no cluster %q.\n", name)
			}
			return nil
		},
	}
	nameFlag(command, &name)
	command.Flags().StringVar(&explicit, "kubeconfig", "", "the kubeconfig to take the cluster out of (default: $KUBECONFIG or ~/.kube/config)")
	return command
}
