package plugins

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// defaultBinder writes the node into the pod, through its binding subresource. The uid
// makes sure that it isn't a successor of the same name that gets the node.
type defaultBinder struct{ client kubernetes.Interface }

func (defaultBinder) Name() string { return "DefaultBinder" }

func (b defaultBinder) Bind(ctx context.Context, _ *framework.CycleState, pod *framework.PodInfo, node string) *framework.Status {
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Pod.Namespace, Name: pod.Pod.Name, UID: pod.Pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	return framework.AsStatus(b.client.CoreV1().Pods(binding.Namespace).Bind(ctx, binding, metav1.CreateOptions{}))
}
