package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kogge-dev/kogge/tools/genuine"
)

// idle is how long a control plane rests before its memory is read.
const idle = 10 * time.Second

// starter starts a control plane whose data is in a folder.
type starter func(ctx context.Context, dir string) (side, error)

// side is a control plane that was started. Stop may be nil when starting failed.
type side struct {
	config    *rest.Config
	processes []int
	stop      func()
	// profiles is the folder for profiles of its server; empty: none are taken.
	profiles string
	// steps of load that are run.
	steps *regexp.Regexp
}

// with runs a measurement on a control plane of its own.
func with(ctx context.Context, start starter, measure func(side) error) error {
	dir, err := os.MkdirTemp("", "kogge-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := start(ctx, dir)
	if s.stop != nil {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	return measure(s)
}

func startGenuine(ctx context.Context, bin, dir string) (side, error) {
	g := &genuine.ControlPlane{Bin: filepath.Join(bin, "genuine"), Dir: dir}
	s := side{stop: func() { g.End() }}
	if err := g.Start(ctx); err != nil {
		return s, err
	}
	s.processes, s.config = g.Processes(), g.Config()
	return s, nil
}

func startOurs(ctx context.Context, bin, dir string, args ...string) (side, error) {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return side{}, err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(bin, "kogge"), append([]string{"server", "--data-dir", filepath.Join(dir, "etcd"), "--pki-dir", filepath.Join(dir, "pki"),
		"--bind-address", "127.0.0.1", "--secure-port", "0", "--admin-kubeconfig", kubeconfig}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return side{}, err
	}
	s := side{processes: []int{cmd.Process.Pid}, stop: func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
	}}
	if err := await(ctx, func(context.Context) bool { _, err := os.Stat(kubeconfig); return err == nil }); err != nil {
		return s, err
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return s, err
	}
	s.config.QPS = -1
	return s, nil
}

// await asks every few milliseconds, at most a minute.
func await(ctx context.Context, ask func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ask(ctx) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// resident waits a while and adds up the resident memory of processes, in bytes.
func resident(ctx context.Context, processes []int) (int64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(idle):
	}
	var sum int64
	for _, pid := range processes {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			return 0, err
		}
		pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += pages * int64(os.Getpagesize())
	}
	return sum, nil
}
