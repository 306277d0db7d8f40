package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Sizes of the load.
const (
	podCount       = 5000
	configMapCount = 5000
	nodeCount      = 1000
	deployed       = 1000
)

// measureLoad fills one control plane and measures what it does on the way.
func measureLoad(ctx context.Context, start starter, add func(row, string, float64)) error {
	return with(ctx, start, func(s side) error {
		cs, err := connect(s.config)
		if err != nil {
			return err
		}
		for _, name := range []string{"stored", "configs", "watched", "scheduled", "deployed"} {
			if err := namespace(ctx, cs[0], name); err != nil {
				return err
			}
		}
		for _, step := range loadSteps {
			if s.steps != nil && !s.steps.MatchString(step.name) {
				continue
			}
			done := s.profile(ctx, step.name)
			err := step.run(ctx, s, cs, add)
			done()
			if err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
		}
		return nil
	})
}

// loadSteps are what happens to one control plane, in order.
var loadSteps = []struct {
	name string
	run  func(context.Context, side, clients, func(row, string, float64)) error
}{
	{"create", creates}, {"get", gets}, {"patch", patches}, {"apply", applies}, {"list", reads}, {"watch", watches},
	{"schedule", schedule}, {"memory", memory}, {"deploy", deploy},
}

// namespace makes a namespace and waits for its account, without which it takes no pods.
func namespace(ctx context.Context, c *kubernetes.Clientset, name string) error {
	if err := await(ctx, func(ctx context.Context) bool {
		_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err == nil
	}); err != nil {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	return await(ctx, func(ctx context.Context) bool {
		_, err := c.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
}

func memory(ctx context.Context, s side, _ clients, add func(row, string, float64)) error {
	m, err := resident(ctx, s.processes)
	add("resident memory with 10,000 pods, 5,000 ConfigMaps, 1,000 nodes", "MiB", float64(m>>20))
	return err
}
