package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island"
)

func newScale() *cobra.Command {
	command := &cobra.Command{Use: "scale", Short: "Change how many simulated nodes a cluster has"}
	command.AddCommand(newScaleNodes())
	return command
}

func newScaleNodes() *cobra.Command {
	var name string
	var wait time.Duration
	command := &cobra.Command{
		Use:   "nodes NUMBER",
		Short: "Make it so many simulated nodes; the last ones go",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			number, err := strconv.Atoi(arguments[0])
			if err != nil {
				return fmt.Errorf("%q is no number of nodes", arguments[0])
			}
			directory, _, err := existing(name)
			if err != nil {
				return err
			}
			if err := showSteps(command.Context(), command.ErrOrStderr(), island.ScaleSteps(directory, number, wait)); err != nil {
				return err
			}
			fmt.Fprintf(command.ErrOrStderr(), "Cluster %q has %d simulated nodes.\n", name, number)
			return nil
		},
	}
	nameFlag(command, &name)
	command.Flags().DurationVar(&wait, "wait", 5*time.Minute, "how long to wait until the nodes are ready, and those that go are gone (0: not at all)")
	return command
}
