package cli

import (
	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/scheduler"
)

func newScheduler() *cobra.Command {
	var kubeconfig string
	var verbosity int
	command := &cobra.Command{
		Use:   "scheduler",
		Short: "Run the scheduler",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := clientConfig(kubeconfig)
			if err != nil {
				return err
			}
			running, err := scheduler.New(scheduler.Options{Config: config, Logger: newLogger(command.ErrOrStderr(), verbosity)})
			if err != nil {
				return err
			}
			return running.Run(command.Context())
		},
	}
	kubeconfigFlag(command, &kubeconfig)
	logFlag(command, &verbosity)
	return command
}
