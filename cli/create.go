package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/island"
	"github.com/kogge-dev/kogge/cluster/kubeconfig"
)

func newCreate() *cobra.Command {
	command := &cobra.Command{Use: "create", Short: "Create a cluster"}
	command.AddCommand(newCreateCluster())
	return command
}

type createFlags struct {
	name       string
	nodes      int
	port       int
	wait       time.Duration
	kubeconfig string
	retain     bool
	reuse      bool
	registries bool
	simulated  int
	simulation string
	stages     []string
}

func newCreateCluster() *cobra.Command {
	var flags createFlags
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Create a cluster of containers on this machine, and select its context",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if command.Flags().Changed("simulated-nodes") && !command.Flags().Changed("nodes") {
				flags.nodes = 0
			}
			return createCluster(command, flags)
		},
	}
	nameFlag(command, &flags.name)
	command.Flags().IntVar(&flags.nodes, "nodes", 2, "how many nodes")
	command.Flags().IntVar(&flags.simulated, "simulated-nodes", 0, "how many simulated nodes; without --nodes there are no others then, and no privileges are needed")
	command.Flags().StringVar(&flags.simulation, "simulation", "", "a file that says what simulated nodes are like and how their pods behave")
	command.Flags().StringSliceVar(&flags.stages, "stages", nil, "files of Stage objects, as kwok has them, by which objects live")
	command.Flags().IntVar(&flags.port, "api-server-port", 0, "the API server's port on 127.0.0.1 (default: a free one)")
	command.Flags().DurationVar(&flags.wait, "wait", 0, "how long to wait for the nodes to be ready (default: not at all)")
	command.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "", "the kubeconfig to write to (default: $KUBECONFIG or ~/.kube/config)")
	command.Flags().BoolVar(&flags.retain, "retain", false, "keep what there is when creation fails, to look at it")
	command.Flags().BoolVar(&flags.reuse, "reuse", false, "take a cluster of that name that runs already as it is")
	command.Flags().BoolVar(&flags.registries, "registries", true, "let the nodes pull images from registries, by way of this machine")
	return command
}

func createCluster(command *cobra.Command, flags createFlags) error {
	ctx, output := command.Context(), command.ErrOrStderr()
	directory, err := island.Locate(flags.name)
	if err != nil {
		return err
	}
	if err := directory.Check(); err != nil {
		return err
	}
	binaries, err := island.Binaries()
	if err != nil {
		return err
	}
	simulation, err := simulationConfiguration(flags.simulation, flags.stages, flags.name)
	if err != nil {
		return err
	}
	if flags.simulated < 0 || flags.simulated > fleet.MostNodes {
		return fmt.Errorf("--simulated-nodes: %d: must be 0 to %d", flags.simulated, fleet.MostNodes)
	}
	if flags.simulated > 0 {
		simulation.Nodes = flags.simulated
	}
	existed := directory.Exists()
	spec := island.Spec{Name: flags.name, Nodes: flags.nodes, Port: flags.port, Registries: flags.registries, Binaries: binaries}
	fmt.Fprintf(output, "Creating cluster %q …\n", flags.name)
	began := time.Now()
	err = showSteps(ctx, output, island.CreateSteps(directory, island.CreateOptions{Spec: spec, Simulation: simulation, Wait: flags.wait, Reuse: flags.reuse}))
	if err != nil {
		if !existed && !flags.retain {
			// Even when the user broke it off: what was begun goes away.
			err = errors.Join(err, island.Delete(context.WithoutCancel(ctx), directory))
		}
		return err
	}
	file, err := mergeKubeconfig(directory, flags.name, flags.kubeconfig)
	if err != nil {
		return err
	}
	fmt.Fprintf(output, "Cluster %q is up after %s. Its context %q is selected in %s.\n",
		flags.name, rounded(time.Since(began)), island.ContextName(flags.name), file)
	fmt.Fprintln(output, outside(flags.nodes > 0, flags.registries))
	return nil
}

// outside says what a cluster can reach, so that nobody has to find out by a timeout.
func outside(containers, registries bool) string {
	if !containers {
		return "Pods are simulated: nothing runs, and nothing is reached."
	}
	if registries {
		return "Nodes can pull images; pods reach one another and the API server, but nothing outside."
	}
	return "Pods reach one another and the API server; nothing outside can be reached, registries neither."
}

// mergeKubeconfig puts the administrator's entry into the user's kubeconfig and says into which file.
func mergeKubeconfig(directory island.Directory, name, explicit string) (string, error) {
	entry, err := kubeconfig.Read(directory.AdminKubeconfig(), island.ContextName(name))
	if err != nil {
		return "", err
	}
	return kubeconfig.Merge(explicit, entry)
}
