package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigFlag adds upstream's flag for how a component reaches the API server.
func kubeconfigFlag(command *cobra.Command, file *string) {
	command.Flags().StringVar(file, "kubeconfig", "", "the kubeconfig by which to reach the API server")
}

// clientConfig reads a component's kubeconfig; without one, the environment of a pod serves. The component is not
// slowed down by the client: fairness is the server's business.
func clientConfig(file string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return config, nil
}
