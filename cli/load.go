package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kogge-dev/kogge/cluster/island"
)

func newLoad() *cobra.Command {
	command := &cobra.Command{Use: "load", Short: "Load images into a cluster"}
	command.AddCommand(newLoadImageArchive())
	return command
}

func newLoadImageArchive() *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   "image-archive FILE...",
		Short: "Load image archives (of docker save, or OCI layouts in a tar) into all nodes",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, files []string) error {
			directory, _, err := existing(name)
			if err != nil {
				return err
			}
			for _, file := range files {
				absolute, err := filepath.Abs(file)
				if err != nil {
					return fmt.Errorf("find %s: %w", file, err)
				}
				if err := island.LoadArchive(command.Context(), directory, absolute); err != nil {
					return err
				}
			}
			return nil
		},
	}
	nameFlag(command, &name)
	return command
}
