package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// Version is what kogge and the components report: upstream's version whose behaviour they have.
const Version = "v1.37.2+kogge"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(command.OutOrStdout(), "kogge %s %s %s/%s\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
