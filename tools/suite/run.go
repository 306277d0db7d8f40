package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/kogge-dev/kogge/cluster"
)

// stopGrace is how long ginkgo may clean up after it was asked to end.
const stopGrace = 20 * time.Second

// runPart runs a part's tests on its cluster and reads its report.
func (s *suite) runPart(ctx context.Context, p part) (tally, error) {
	if len(p.tests) == 0 {
		return tally{}, nil
	}
	dir := filepath.Join(s.out, p.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return tally{}, err
	}
	if p.nodes < 0 {
		return s.runTests(ctx, p, dir, s.kubeconfig)
	}
	log, err := os.Create(filepath.Join(dir, "cluster.log"))
	if err != nil {
		return tally{}, err
	}
	defer log.Close() // nothing depends on the log's last line
	c, err := cluster.Start(ctx, cluster.Options{Nodes: p.nodes, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		return tally{}, err
	}
	t, err := s.runOn(ctx, p, dir, c)
	return t, errors.Join(err, c.Stop())
}

func (s *suite) runOn(ctx context.Context, p part, dir string, c *cluster.Cluster) (tally, error) {
	content, err := c.Kubeconfig()
	if err != nil {
		return tally{}, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return tally{}, err
	}
	return s.runTests(ctx, p, dir, kubeconfig)
}

// runTests lets ginkgo run the tests. That some fail is not an error here: the report says so.
func (s *suite) runTests(ctx context.Context, p part, dir, kubeconfig string) (tally, error) {
	output, err := os.Create(filepath.Join(dir, "output.txt"))
	if err != nil {
		return tally{}, err
	}
	defer output.Close() // nothing depends on its last line
	report := filepath.Join(dir, "junit.xml")
	if err := os.Remove(report); err != nil && !errors.Is(err, os.ErrNotExist) {
		return tally{}, err
	}
	fmt.Printf("%s: %d tests, output in %s\n", p.name, len(p.tests), output.Name())
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "suite", "ginkgo"), s.arguments(p, kubeconfig, dir)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = output, output, dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = stopGrace
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		return tally{}, err
	}
	if ctx.Err() != nil {
		return tally{}, ctx.Err()
	}
	t, err := read(report)
	if err != nil {
		return tally{}, fmt.Errorf("%w: see %s", err, output.Name())
	}
	t.expect(p.tests)
	return t, nil
}

func (s *suite) arguments(p part, kubeconfig, dir string) []string {
	args := []string{"--procs=" + strconv.Itoa(s.procs), "--timeout=24h", "--no-color", "--silence-skips", "--keep-going",
		"--junit-report=junit.xml", "--output-dir=" + dir, "--focus=" + pattern(p.tests),
		filepath.Join(s.bin, "suite", "e2e.test"), "--",
		"--kubeconfig=" + kubeconfig, "--provider=skeleton", "--kubectl-path=" + filepath.Join(s.bin, "kubectl"),
		"--dump-logs-on-failure=false", "--allowed-not-ready-nodes=-1"}
	switch {
	case p.nodes == 0:
		args = append(args, "--num-nodes=0", "--minStartupPods=-1")
	case p.nodes > 0:
		args = append(args, "--num-nodes="+strconv.Itoa(p.nodes))
	}
	return args
}
