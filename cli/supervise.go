package cli

import (
	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island"
)

// newSupervise is what `create cluster` leaves running: not for users.
func newSupervise() *cobra.Command {
	var directory string
	var verbosity int
	command := &cobra.Command{
		Use:    "supervise",
		Short:  "Keep a cluster's server and nodes running",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			logger := newLogger(command.ErrOrStderr(), verbosity)
			return island.Supervise(command.Context(), island.Directory(directory), logger)
		},
	}
	command.Flags().StringVar(&directory, "directory", "", "the cluster's directory")
	logFlag(command, &verbosity)
	return command
}
