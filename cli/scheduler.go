package cli

import (
	"os"

	"github.com/spf13/cobra"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler"
	"github.com/kogge-dev/kogge/scheduler/configuration"
)

func newScheduler() *cobra.Command {
	var kubeconfig, file string
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
			profiles, err := schedulerConfiguration(file)
			if err != nil {
				return err
			}
			running, err := scheduler.New(scheduler.Options{Config: config, Logger: newLogger(command.ErrOrStderr(), verbosity), Configuration: profiles})
			if err != nil {
				return err
			}
			return running.Run(command.Context())
		},
	}
	command.Flags().StringVar(&file, "config", "", "file with a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1)")
	kubeconfigFlag(command, &kubeconfig)
	logFlag(command, &verbosity)
	return command
}

// schedulerConfiguration reads a file; nil without one.
func schedulerConfiguration(file string) (*configv1.KubeSchedulerConfiguration, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return configuration.Load(content)
}
