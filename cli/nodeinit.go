package cli

import (
	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island/nodeinit"
)

// newNodeInit is the first process of a node container: not for users.
func newNodeInit() *cobra.Command {
	var file string
	var inside bool
	var verbosity int
	command := &cobra.Command{
		Use:    "node-init",
		Short:  "Be the first process of a node container",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := nodeinit.Load(file)
			if err != nil {
				return err
			}
			if !inside {
				return nodeinit.Prepare(config, file)
			}
			return nodeinit.Run(command.Context(), config, newLogger(command.ErrOrStderr(), verbosity))
		},
	}
	command.Flags().StringVar(&file, "config", "", "the node's configuration")
	command.Flags().BoolVar(&inside, "inside", false, "the second step, after the node's cgroup was joined")
	logFlag(command, &verbosity)
	return command
}
