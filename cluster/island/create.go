package island

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/island/process"
)

// Step is one step of a longer task, told to the user as it goes.
type Step struct {
	Title string
	Run   func(ctx context.Context) error
}

// CreateOptions say how to create a cluster.
type CreateOptions struct {
	// Spec describes the cluster; with Port 0 a free port is chosen.
	Spec Spec
	// Simulation says which simulated nodes a new cluster has.
	Simulation fleet.Configuration
	// Reuse takes a cluster that runs already as it is. Without, that is an error.
	Reuse bool
	// Wait is how long to wait for the nodes to be ready; 0: not at all.
	Wait time.Duration
}

// serverTimeout is how long the control plane may take to answer.
const serverTimeout = 30 * time.Second

// CreateSteps are the steps that create a cluster in directory, to be run in order. A directory whose cluster
// doesn't run (after a reboot, say) is started again as it is. When a step fails, what exists until then is left:
// Delete removes it.
func CreateSteps(directory Directory, options CreateOptions) []Step {
	spec := options.Spec
	steps := []Step{
		{"Checking this machine", func(context.Context) error {
			if err := spec.Validate(); err != nil {
				return err
			}
			if !spec.Containers() {
				return checkProgram(spec.Binaries)
			}
			return Preflight(directory, spec.Binaries)
		}},
		{"Writing keys and configuration", func(context.Context) error {
			var err error
			spec, err = prepare(directory, options)
			return err
		}},
		{"Starting the control plane", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, serverTimeout)
			defer cancel()
			if err := startSupervisor(ctx, directory, spec); err != nil {
				return err
			}
			return waitForServer(ctx, directory)
		}},
	}
	if options.Wait > 0 && options.Simulation.Nodes > 0 {
		steps = append(steps, Step{fmt.Sprintf("Waiting for %d simulated nodes to be ready", options.Simulation.Nodes), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, options.Wait)
			defer cancel()
			return waitForSimulated(ctx, directory)
		}})
	}
	if options.Wait > 0 && spec.Nodes > 0 {
		steps = append(steps, Step{fmt.Sprintf("Waiting for %d nodes to be ready", spec.Nodes), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, options.Wait)
			defer cancel()
			return waitForNodes(ctx, directory, spec)
		}})
	}
	return steps
}

// prepare writes a new cluster's configuration, or reads that of one which was created before.
func prepare(directory Directory, options CreateOptions) (Spec, error) {
	spec := options.Spec
	if present, err := directory.Spec(); err == nil {
		runs, err := supervised(directory)
		if err != nil {
			return Spec{}, err
		}
		if runs && !options.Reuse {
			return Spec{}, fmt.Errorf("cluster %q exists already: delete it first, or choose another name", spec.Name)
		}
		if runs {
			return present, nil
		}
		present.Binaries = spec.Binaries
		return present, writeConfiguration(directory, present)
	}
	if spec.Port == 0 {
		port, err := freePort()
		if err != nil {
			return Spec{}, err
		}
		spec.Port = port
	}
	if err := os.MkdirAll(string(directory), 0o700); err != nil {
		return Spec{}, fmt.Errorf("make the cluster's directory: %w", err)
	}
	if err := options.Simulation.Write(directory.simulationFile()); err != nil {
		return Spec{}, err
	}
	return spec, writeConfiguration(directory, spec)
}

// freePort finds a port of 127.0.0.1 that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, nil
}

// supervised tells whether the cluster has a supervisor that runs.
func supervised(directory Directory) (bool, error) {
	record, err := process.Load(directory.recordFile(supervisorName))
	return err == nil && record.Alive(), err
}

// startSupervisor starts the supervisor, unless it runs; it goes on when this process ends.
func startSupervisor(ctx context.Context, directory Directory, spec Spec) error {
	if runs, err := supervised(directory); err != nil || runs {
		return err
	}
	program := filepath.Join(spec.Binaries, "kogge")
	started, err := startDetached(program, []string{"supervise", "--directory", string(directory)}, directory.logFile(supervisorName), nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		state, err := started.Wait()
		if err == nil {
			err = fmt.Errorf("the supervisor ended (%s): see %s", state, directory.logFile(supervisorName))
		}
		ended <- err
	}()
	return eventually(ctx, func() error {
		select {
		case err := <-ended:
			return terminal{err}
		default:
		}
		record, err := process.Load(directory.recordFile(supervisorName))
		if err != nil {
			return err
		}
		if record.PID != started.Pid {
			return errors.New("the supervisor has not begun")
		}
		return nil
	})
}

// AdminConfig is the administrator's client configuration for use on the host.
func (d Directory) AdminConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", d.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the administrator's kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}

func waitForServer(ctx context.Context, directory Directory) error {
	client, err := adminClient(directory)
	if err != nil {
		return err
	}
	return eventually(ctx, func() error {
		if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
			return fmt.Errorf("the API server does not answer (see %s): %w", directory.logFile("server"), err)
		}
		return nil
	})
}

func waitForNodes(ctx context.Context, directory Directory, spec Spec) error {
	client, err := adminClient(directory)
	if err != nil {
		return err
	}
	return eventually(ctx, func() error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
		return notReady(spec, nodes.Items, directory)
	})
}

func adminClient(directory Directory) (*kubernetes.Clientset, error) {
	config, err := directory.AdminConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the API server: %w", err)
	}
	return client, nil
}

// notReady says which of the cluster's nodes are not ready, and what they say themselves; nil when all are.
func notReady(spec Spec, nodes []corev1.Node, directory Directory) error {
	conditions := map[string]corev1.NodeCondition{}
	for _, node := range nodes {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				conditions[node.Name] = condition
			}
		}
	}
	var problems []error
	for _, node := range spec.NodeList() {
		condition, found := conditions[node.Name]
		switch {
		case !found:
			problems = append(problems, fmt.Errorf("%s has not registered (see %s)", node.Name, directory.NodeLog(node.Name)))
		case condition.Status != corev1.ConditionTrue:
			problems = append(problems, fmt.Errorf("%s is not ready: %s: %s", node.Name, condition.Reason, condition.Message))
		}
	}
	return errors.Join(problems...)
}

// terminal marks an error after which trying again is of no use.
type terminal struct{ error }

func (t terminal) Unwrap() error { return t.error }

// eventually calls attempt until it succeeds, fails for good, or ctx is done; it returns the last error then.
func eventually(ctx context.Context, attempt func() error) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		err := attempt()
		var final terminal
		if err == nil || errors.As(err, &final) {
			return err
		}
		// An attempt that ctx cut short knows less than the one before it.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up waiting: %w", last)
		case <-ticker.C:
		}
	}
}

// Binaries finds the directory of this program, where the others lie too.
func Binaries() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the directory of programs: %w", err)
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return "", fmt.Errorf("find the directory of programs: %w", err)
	}
	return filepath.Dir(program), nil
}
