// Command figures measures what README claims, ours beside the genuine control plane on the same machine.
//
//	make figures
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kogge-dev/kogge/tools/genuine"
)

// rounds of each measurement; the median counts.
const rounds = 5

// idle is how long a control plane rests before its memory is read.
const idle = 10 * time.Second

func main() {
	bin := flag.String("bin", "bin", "folder of the binaries")
	example := flag.String("example", "", "manifest of the rollout that is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *example); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, example string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	genuineReady, genuineStart, genuineMemory, err := measure(ctx, func(ctx context.Context, dir string) (side, error) { return startGenuine(ctx, bin, dir) })
	if err != nil {
		return fmt.Errorf("genuine control plane: %w", err)
	}
	oursReady, oursStart, oursMemory, err := measure(ctx, func(ctx context.Context, dir string) (side, error) { return startOurs(ctx, bin, dir) })
	if err != nil {
		return fmt.Errorf("our control plane: %w", err)
	}
	created, rolledOut, err := measureCluster(ctx, bin, example)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	fmt.Println("| what | genuine | ours |")
	fmt.Println("|---|---|---|")
	fmt.Printf("| process start to `/readyz` | %.2f s | %.2f s |\n", genuineReady.Seconds(), oursReady.Seconds())
	fmt.Printf("| process start to the `default` ServiceAccount | %.2f s | %.2f s |\n", genuineStart.Seconds(), oursStart.Seconds())
	fmt.Printf("| resident memory of the control plane, idle | %d MiB | %d MiB |\n", genuineMemory>>20, oursMemory>>20)
	fmt.Printf("| `create cluster`, two nodes Ready | | %.2f s |\n", created.Seconds())
	fmt.Printf("| the example: apply to all Ready | | %.2f s |\n", rolledOut.Seconds())
	return nil
}

// side is a control plane that was started.
type side struct {
	clients   kubernetes.Interface
	processes []int
	stop      func()
}

// measure starts a control plane several times and gives the median times to its readiness and to its
// default account, and its memory at rest.
func measure(ctx context.Context, start func(context.Context, string) (side, error)) (ready, account time.Duration, memory int64, err error) {
	var readies, accounts []time.Duration
	for i := range rounds {
		dir, err := os.MkdirTemp("", "kogge-figures-")
		if err != nil {
			return 0, 0, 0, err
		}
		began := time.Now()
		s, err := start(ctx, dir)
		if err == nil {
			err = await(ctx, func(ctx context.Context) bool {
				return s.clients.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
			})
			readies = append(readies, time.Since(began))
		}
		if err == nil {
			err = await(ctx, func(ctx context.Context) bool {
				_, err := s.clients.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
				return err == nil
			})
			accounts = append(accounts, time.Since(began))
		}
		if err == nil && i == rounds-1 {
			memory, err = rest(ctx, s.processes)
		}
		if s.stop != nil {
			s.stop()
		}
		if err := os.RemoveAll(dir); err != nil {
			return 0, 0, 0, err
		}
		if err != nil {
			return 0, 0, 0, err
		}
	}
	slices.Sort(readies)
	slices.Sort(accounts)
	return readies[rounds/2], accounts[rounds/2], memory, nil
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

// rest waits a while and adds up the resident memory of processes, in bytes.
func rest(ctx context.Context, processes []int) (int64, error) {
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

func startGenuine(ctx context.Context, bin, dir string) (side, error) {
	g := &genuine.ControlPlane{Bin: filepath.Join(bin, "genuine"), Dir: dir}
	s := side{stop: func() { g.End() }}
	if err := g.Start(ctx); err != nil {
		return s, err
	}
	var err error
	s.processes = g.Processes()
	s.clients, err = kubernetes.NewForConfig(g.Config())
	return s, err
}

func startOurs(ctx context.Context, bin, dir string) (side, error) {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return side{}, err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(bin, "kogge"), "server", "--data-dir", filepath.Join(dir, "etcd"), "--pki-dir", filepath.Join(dir, "pki"),
		"--bind-address", "127.0.0.1", "--secure-port", "0", "--admin-kubeconfig", kubeconfig)
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
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return s, err
	}
	s.clients, err = kubernetes.NewForConfig(config)
	return s, err
}

// measureCluster creates clusters of real nodes and rolls the example out in each.
func measureCluster(ctx context.Context, bin, example string) (created, rolledOut time.Duration, err error) {
	dir, err := os.MkdirTemp("", "kogge-figures-")
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
		if err := do("kogge", "create", "cluster", "--name", "figures", "--nodes", "2", "--wait", "60s"); err != nil {
			return 0, 0, err
		}
		creations = append(creations, time.Since(began))
		began = time.Now()
		err := do("kubectl", "apply", "-f", example)
		if err == nil {
			err = do("kubectl", "rollout", "status", "deployment/nginx", "--timeout=60s")
		}
		rollouts = append(rollouts, time.Since(began))
		if deleteErr := do("kogge", "delete", "cluster", "--name", "figures"); err == nil {
			err = deleteErr
		}
		if err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(creations)
	slices.Sort(rollouts)
	return creations[rounds/2], rollouts[rounds/2], nil
}
