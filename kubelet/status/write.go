package status

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Write sends what differs between two statuses, and returns the pod as it is then. It returns nil when there was
// nothing to send. Errors are the API's, wrapped; a pod that is gone gives NotFound, one that was replaced Conflict.
func Write(ctx context.Context, pods corev1.PodInterface, pod *v1.Pod, from, to *v1.PodStatus) (*v1.Pod, error) {
	patch, err := Patch(pod.UID, from, to)
	if err != nil || patch == nil {
		return nil, err
	}
	written, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return nil, fmt.Errorf("write status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return written, nil
}
