package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresources "k8s.io/component-helpers/resource"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// podResizeValidator refuses to resize a pod beyond what its node has, or on a node that cannot.
func podResizeValidator(objects Objects) plugin {
	return plugin{name: "PodResizeValidator", validate: func(_ context.Context, a *registry.Attributes) error {
		pod, ok := a.Object.(*corev1.Pod)
		if !ok || a.Operation != registry.Update || a.Subresource != "resize" || pod.Spec.NodeName == "" || a.Old.GetGeneration() == pod.Generation {
			return nil
		}
		obj, err := objects.Get("", "nodes", "", pod.Spec.NodeName)
		switch {
		case apierrors.IsNotFound(err):
			return forbiddenf(a, "node %q not found", pod.Spec.NodeName)
		case err != nil:
			return forbiddenf(a, "failed to get node %q: %w", pod.Spec.NodeName, err)
		}
		node := obj.(*corev1.Node)
		if os := node.Labels[corev1.LabelOSStable]; os != "" && os != "linux" {
			return because(forbiddenf(a, "pod resize is only supported on linux nodes, node %q is %q", node.Name, os), "UnsupportedPlatform")
		}
		if lacks := lacking(pod, node.Status.Allocatable); len(lacks) > 0 {
			return because(forbiddenf(a, "node didn't have enough allocatable resources: %s", strings.Join(lacks, "; ")), "NodeCapacity")
		}
		return nil
	}}
}

// because adds a cause to a refusal.
func because(err error, cause metav1.CauseType) error {
	if status := (*apierrors.StatusError)(nil); errors.As(err, &status) && status.ErrStatus.Details != nil {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
	}
	return err
}

// lacking tells what a pod asks for beyond what its node can give at all: processors in thousandths, memory in bytes.
func lacking(pod *corev1.Pod, has corev1.ResourceList) []string {
	var out []string
	asks := podresources.PodRequests(pod, podresources.PodResourcesOptions{})
	if cpu := asks.Cpu(); cpu.Cmp(*has.Cpu()) > 0 {
		out = append(out, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(), has.Cpu().MilliValue()))
	}
	if memory := asks.Memory(); memory.Cmp(*has.Memory()) > 0 {
		out = append(out, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(), has.Memory().Value()))
	}
	return out
}
