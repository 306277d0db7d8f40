package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster/fleet"
)

// simulation is a control plane with simulated nodes.
type simulation struct {
	side
	// grow makes it n nodes. They become Ready by and by.
	grow func(ctx context.Context, n int) error
}

// measureSimulation makes nodes that are simulated, then ten times as many pods, and counts until all are Ready and all run.
func measureSimulation(ctx context.Context, name, bin string, nodes int, add func(row, string, float64)) error {
	dir, err := os.MkdirTemp("", "kogge-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	start := startSimulated
	if name == "genuine" {
		start = startKwok
	}
	s, err := start(ctx, bin, dir)
	if s.stop != nil {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	cs, err := connect(s.config)
	if err != nil {
		return err
	}
	if err := namespace(ctx, cs[0], "simulated"); err != nil {
		return err
	}
	began := time.Now()
	if err := s.grow(ctx, nodes); err != nil {
		return err
	}
	if err := awaitReady(ctx, cs[0], nodes); err != nil {
		return err
	}
	add(row(fmt.Sprintf("%d simulated nodes, until all are Ready", nodes)), "/s", float64(nodes)/time.Since(began).Seconds())
	pods := 10 * nodes
	running, err := awaitPods(ctx, cs[0], "simulated", "status.phase=Running", pods)
	if err != nil {
		return err
	}
	began = time.Now()
	if _, err := cs.each(ctx, pods, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		_, err := c.CoreV1().Pods("simulated").Create(ctx, pod(fmt.Sprintf("pod-%d", i), ""), metav1.CreateOptions{})
		return err
	}); err != nil {
		return err
	}
	if err := <-running; err != nil {
		return err
	}
	add(row(fmt.Sprintf("create %d pods on them, until all run", pods)), "/s", float64(pods)/time.Since(began).Seconds())
	memory, err := resident(ctx, s.processes)
	add("resident memory then", "MiB", float64(memory>>20))
	return err
}

// startSimulated is ours; its nodes are the real kubelet on a runtime that runs nothing.
func startSimulated(ctx context.Context, bin, dir string) (simulation, error) {
	file := filepath.Join(dir, "simulation.json")
	if err := (fleet.Configuration{}).Write(file); err != nil {
		return simulation{}, err
	}
	s, err := startOurs(ctx, bin, dir, "--simulation", file)
	grow := func(_ context.Context, n int) error {
		if err := (fleet.Configuration{Nodes: n}).Write(file); err != nil {
			return err
		}
		return syscall.Kill(s.processes[0], syscall.SIGHUP)
	}
	return simulation{s, grow}, err
}

// startKwok is the genuine control plane, with kwok for nodes and pods.
func startKwok(ctx context.Context, bin, dir string) (simulation, error) {
	s, err := startGenuine(ctx, bin, dir)
	if err != nil {
		return simulation{side: s}, err
	}
	log, err := os.Create(filepath.Join(dir, "kwok.log"))
	if err != nil {
		return simulation{side: s}, err
	}
	defer log.Close()
	kwok := exec.Command(filepath.Join(bin, "genuine", "kwok"), "--kubeconfig", filepath.Join(dir, "kubeconfig"), "--config", filepath.Join(bin, "genuine", "kwok-stages.yaml"),
		"--manage-all-nodes", "--node-lease-duration-seconds", "40")
	kwok.Stdout, kwok.Stderr = log, log
	kwok.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := kwok.Start(); err != nil {
		return simulation{side: s}, err
	}
	end := s.stop
	s.stop = func() {
		_ = kwok.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = kwok.Wait()
		end()
	}
	s.processes = append(s.processes, kwok.Process.Pid)
	grow := func(ctx context.Context, n int) error {
		cs, err := connect(s.config)
		if err != nil {
			return err
		}
		_, err = cs.each(ctx, n, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
			_, err := c.CoreV1().Nodes().Create(ctx, kwokNode(fmt.Sprintf("node-%d", i)), metav1.CreateOptions{})
			return err
		})
		return err
	}
	return simulation{s, grow}, nil
}

// kwokNode is a node of the size that simulated nodes have.
func kwokNode(name string) *corev1.Node {
	q := resource.MustParse
	room := corev1.ResourceList{"cpu": q("8"), "memory": q("32Gi"), "pods": q("110"), "ephemeral-storage": q("100Gi")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

// awaitReady returns once so many nodes are Ready and nothing keeps pods from them. A watch that ends begins anew, with all there are.
func awaitReady(ctx context.Context, c *kubernetes.Clientset, n int) error {
	ready := map[string]bool{}
	for len(ready) < n {
		w, err := c.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		err = readReady(w, ready, n)
		w.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// readReady notes nodes that are Ready until there are n, or the watch ends.
func readReady(w watch.Interface, ready map[string]bool, n int) error {
	for len(ready) < n {
		select {
		case <-time.After(2 * time.Minute):
			return fmt.Errorf("stuck at %d nodes that are Ready", len(ready))
		case e := <-w.ResultChan():
			node, ok := e.Object.(*corev1.Node)
			if !ok {
				return nil
			}
			if isReady(node) {
				ready[node.Name] = true
			}
		}
	}
	return nil
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0
		}
	}
	return false
}
