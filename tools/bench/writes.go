package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
)

// pod is of the size that pods of a Deployment have: 2.5 kB when it is read.
func pod(name, scheduler string) *corev1.Pod {
	q := resource.MustParse
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "bench", "tier": "front", "pod-template-hash": "6d4cf56db6"}},
		Spec: corev1.PodSpec{SchedulerName: scheduler, Containers: []corev1.Container{{
			Name: "c", Image: "registry.k8s.io/pause:3.10.2", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Env:       []corev1.EnvVar{{Name: "A", Value: "one"}, {Name: "B", Value: "two"}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": q("100m"), "memory": q("128Mi")}},
		}}},
	}
}

// nobody is a scheduler that doesn't run.
const nobody = "nobody"

func creates(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	rate, err := cs.each(ctx, podCount, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		_, err := c.CoreV1().Pods("stored").Create(ctx, pod(fmt.Sprintf("pod-%d", i), nobody), metav1.CreateOptions{})
		return err
	})
	add("create pod", "/s", rate)
	return err
}

func gets(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	rate, err := cs.each(ctx, 2*podCount, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		_, err := c.CoreV1().Pods("stored").Get(ctx, fmt.Sprintf("pod-%d", i%podCount), metav1.GetOptions{})
		return err
	})
	add("get pod", "/s", rate)
	return err
}

func patches(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	rate, err := cs.each(ctx, podCount, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		patch := fmt.Appendf(nil, `{"status":{"phase":"Pending","podIP":"10.0.%d.%d","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, i/250, i%250+1)
		_, err := c.CoreV1().Pods("stored").Patch(ctx, fmt.Sprintf("pod-%d", i), types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	add("patch pod status (strategic merge)", "/s", rate)
	return err
}

func applies(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	rate, err := cs.each(ctx, configMapCount, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		cm := applycorev1.ConfigMap(fmt.Sprintf("config-%d", i), "configs").WithLabels(map[string]string{"app": "bench"}).WithData(map[string]string{"a": "1", "b": "2", "c": "3"})
		_, err := c.CoreV1().ConfigMaps("configs").Apply(ctx, cm, metav1.ApplyOptions{FieldManager: "bench", Force: true})
		return err
	})
	add("server-side apply, new ConfigMap", "/s", rate)
	return err
}
