package kubelet

import (
	"context"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// clear takes back what the machine gave a pod that runs no more.
func (k *Kubelet) clear(_ context.Context, pod *v1.Pod) error { return k.machine.clear(pod) }

// removeFiles removes the pod's logs.
func (k *Kubelet) removeFiles(namespace, name string, uid types.UID) error {
	if k.options.LogRoot == "" || namespace == "" || name == "" {
		return nil
	}
	return os.RemoveAll(runtime.PodLogDirectory(k.options.LogRoot, namespace, name, uid))
}
