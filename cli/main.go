package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the command that the arguments name, and returns the exit code. SIGINT and SIGTERM end it in order; a
// second one ends it at once.
func Main(arguments []string, output, errorOutput io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// From the first signal on the next one is the system's again.
	context.AfterFunc(ctx, stop)

	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(output)
	root.SetErr(errorOutput)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(errorOutput, "kogge: %v\n", err)
		return 1
	}
	return 0
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "kogge",
		Short:         "A small Kubernetes: local clusters of real containers, and every component",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddGroup(&cobra.Group{ID: "clusters", Title: "Local clusters:"}, &cobra.Group{ID: "components", Title: "Components:"})
	for _, command := range []*cobra.Command{newCreate(), newScale(), newDelete(), newGet(), newLoad(), newExport()} {
		command.GroupID = "clusters"
		root.AddCommand(command)
	}
	for _, command := range []*cobra.Command{newServer(), newAPIServer(), newControllers(), newScheduler(), newKubelet(), newProxy(), newKubeAPIServer()} {
		command.GroupID = "components"
		root.AddCommand(command)
	}
	root.AddCommand(newEnvtest(), newVersion(), newSupervise(), newNodeInit())
	return root
}

// nameFlag adds the flag by which commands for users choose a cluster.
func nameFlag(command *cobra.Command, name *string) {
	command.Flags().StringVarP(name, "name", "n", "kogge", "the cluster's name")
}
