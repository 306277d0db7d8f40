package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// measureCluster creates clusters of real nodes and rolls the example out in each.
func measureCluster(ctx context.Context, bin, example string) (created, rolledOut time.Duration, err error) {
	dir, err := os.MkdirTemp("", "kogge-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	do := func(program string, args ...string) error {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
		}
		return nil
	}
	var creations, rollouts []time.Duration
	for range rounds {
		began := time.Now()
		if err := do("kogge", "create", "cluster", "--name", "bench", "--nodes", "2", "--wait", "60s"); err != nil {
			return 0, 0, err
		}
		creations = append(creations, time.Since(began))
		began = time.Now()
		err := do("kubectl", "apply", "-f", example)
		if err == nil {
			err = do("kubectl", "rollout", "status", "deployment/nginx", "--timeout=60s")
		}
		rollouts = append(rollouts, time.Since(began))
		if deleteErr := do("kogge", "delete", "cluster", "--name", "bench"); err == nil {
			err = deleteErr
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return median(creations), median(rollouts), nil
}
