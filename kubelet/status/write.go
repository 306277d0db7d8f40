package status

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Patch is the strategic merge patch from one status to another; nil when they say the same. It names the uid, so
// that it never hits a later pod of the same name.
func Patch(uid types.UID, from, to *v1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(v1.Pod{Status: *from})
	if err != nil {
		return nil, fmt.Errorf("encode pod status: %w", err)
	}
	after, err := json.Marshal(v1.Pod{Status: *to})
	if err != nil {
		return nil, fmt.Errorf("encode pod status: %w", err)
	}
	if string(before) == string(after) {
		return nil, nil
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, v1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("compare pod statuses: %w", err)
	}
	if string(patch) == "{}" {
		return nil, nil // they differ in what no patch can say
	}
	return append(fmt.Appendf(nil, `{"metadata":{"uid":%q},`, uid), patch[1:]...), nil
}

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
