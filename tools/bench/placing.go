package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/tools/genuine"
)

// measurePlacing runs workloads of upstream's scheduler_perf against either scheduler, as a process of its own, on an API
// server of ours in this process.
func measurePlacing(ctx context.Context, side, bin string, nodes int, wanted func(string) bool, add func(row, string, float64)) error {
	for _, w := range workloads {
		if !wanted(w.name) {
			continue
		}
		rate, cpu, err := w.run(ctx, side, bin, nodes)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		add(row(fmt.Sprintf("scheduler_perf %s, %d nodes", w.name, nodes)), "/s", rate)
		add(row(fmt.Sprintf("scheduler_perf %s, %d nodes: the scheduler's CPU, per 1,000 pods", w.name, nodes)), "s", cpu)
	}
	return nil
}

// run sets a cluster up, lets the scheduler place the first pods, and measures how many of the next it places a second, and
// how many seconds of CPU it takes for a thousand: that doesn't depend on what else the machine does.
func (w *workload) run(ctx context.Context, side, bin string, nodes int) (rate, cpu float64, err error) {
	c, err := cluster.Start(ctx, cluster.Options{Controllers: []string{"serviceaccount-controller"}, WithoutScheduler: true})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	dir, err := os.MkdirTemp("", "kogge-placing-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	content, err := c.Kubeconfig()
	if err == nil {
		err = os.WriteFile(kubeconfig, content, 0o600)
	}
	if err != nil {
		return 0, 0, err
	}
	cs, err := connect(c.RESTConfig())
	if err != nil {
		return 0, 0, err
	}
	if err := w.prepare(ctx, cs, nodes); err != nil {
		return 0, 0, err
	}
	process, stop, err := startScheduler(side, bin, dir, kubeconfig)
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	if _, err := place(ctx, cs, w.first, "first", nodes*w.perNode); err != nil {
		return 0, 0, err
	}
	before, err := cpuOf(process)
	if err != nil {
		return 0, 0, err
	}
	took, err := place(ctx, cs, w.then, "then", nodes)
	if err != nil {
		return 0, 0, err
	}
	after, err := cpuOf(process)
	return float64(nodes) / took.Seconds(), (after - before).Seconds() * 1000 / float64(nodes), err
}

// place makes so many pods in a namespace of their own and waits until all are bound.
func place(ctx context.Context, cs clients, make func(*corev1.Pod), namespace string, count int) (time.Duration, error) {
	bound, err := awaitBound(ctx, cs[0], namespace, count)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := cs.each(ctx, count, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		pod := measuredPod(fmt.Sprintf("pod-%d", i))
		make(pod)
		_, err := c.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	}); err != nil {
		return 0, err
	}
	err = <-bound
	return time.Since(began), errors.Join(err, ctx.Err())
}

// startScheduler starts a scheduler for a kubeconfig.
func startScheduler(side, bin, dir, kubeconfig string) (process int, stop func(), err error) {
	if side == "genuine" {
		g := &genuine.ControlPlane{Bin: filepath.Join(bin, "genuine"), Dir: dir}
		if err := g.StartSchedulerOn(kubeconfig); err != nil {
			return 0, nil, err
		}
		return g.Processes()[0], func() { g.End() }, nil
	}
	cmd := exec.Command(filepath.Join(bin, "kogge"), "scheduler", "--kubeconfig", kubeconfig)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	return cmd.Process.Pid, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
	}, nil
}

// tick is the unit of times in /proc.
const tick = time.Second / 100

// cpuOf is the CPU time that a process has used.
func cpuOf(process int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold anything; after it the 12th and 13th fields are ticks in user and kernel mode.
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
	user, userErr := strconv.ParseInt(fields[11], 10, 64)
	kernel, kernelErr := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+kernel) * tick, errors.Join(userErr, kernelErr)
}

// prepare makes what is there before the first pod.
func (w *workload) prepare(ctx context.Context, cs clients, nodes int) error {
	for name, value := range map[string]int32{"low": 1, "high": 10} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		if _, err := cs[0].SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, namespace := range []string{"first", "then"} {
		if _, err := cs[0].CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "member"}, Ports: []corev1.ServicePort{{Port: 80}}}}
		if _, err := cs[0].CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := await(ctx, func(ctx context.Context) bool {
			_, err := cs[0].CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
			return err == nil
		}); err != nil {
			return err
		}
	}
	_, err := cs.each(ctx, nodes, makeEmptyNode)
	return err
}

// makeEmptyNode makes a node as scheduler_perf's are, in one of three zones.
func makeEmptyNode(ctx context.Context, c *kubernetes.Clientset, i int) error {
	name := fmt.Sprintf("node-%d", i)
	made, err := c.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Spec.Taints = nil // a controller takes the first one away; none runs here
	if made, err = c.CoreV1().Nodes().Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	made.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110")}
	made.Status.Allocatable = made.Status.Capacity
	_, err = c.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}
