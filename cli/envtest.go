package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newEnvtest() *cobra.Command {
	command := &cobra.Command{
		Use:   "envtest",
		Short: "Stand in for the binaries that controller-runtime's envtest starts",
		Args:  cobra.NoArgs,
	}
	command.AddCommand(newEnvtestAssets())
	return command
}

func newEnvtestAssets() *cobra.Command {
	return &cobra.Command{
		Use:   "assets DIR",
		Short: "Lay out etcd, kube-apiserver and kubectl in DIR, for $KUBEBUILDER_ASSETS",
		Long: `Lay out etcd, kube-apiserver and kubectl in DIR, and print its path:

  export KUBEBUILDER_ASSETS=$(kogge envtest assets ~/.cache/kogge/assets)
  go test ./...

The first two are links to this binary, kubectl is the one beside it. Controllers and the scheduler stay off, as with the genuine binaries,
unless KOGGE_ENVTEST_CONTROLLERS is "*" or a list as --controllers of kube-controller-manager takes it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			directory, err := layAssets(self, arguments[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), directory)
			return err
		},
	}
}

// layAssets makes the links and gives the folder's absolute path.
func layAssets(self, directory string) (string, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	kubectl := filepath.Join(filepath.Dir(self), "kubectl")
	if _, err := os.Stat(kubectl); err != nil {
		return "", fmt.Errorf("kubectl is to be beside kogge: %w", err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return "", err
	}
	for name, target := range map[string]string{"etcd": self, "kube-apiserver": self, "kubectl": kubectl} {
		link := filepath.Join(directory, name)
		if is, err := os.Lstat(link); err == nil && is.Mode()&os.ModeSymlink == 0 {
			return "", fmt.Errorf("%s is there, and is no link", link)
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if err := os.Symlink(target, link); err != nil {
			return "", err
		}
	}
	return directory, nil
}
