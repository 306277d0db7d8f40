package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/environment"
	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// The most of an exec probe's output that is shown, and how often a question that could not be put is repeated.
const (
	maxOutput = 10 << 10
	attempts  = 3
)

// question is one asking of one probe.
type question struct {
	options   Options
	pod       *v1.Pod
	container *v1.Container
	id        string
	podIP     string
	spec      *v1.Probe
}

// answer is what came back; err says that the question could not be put, which counts neither way.
type answer struct {
	result  plan.ProbeResult
	output  string
	warning bool
	err     error
}

func failed(format string, args ...any) answer {
	return answer{result: plan.Failure, output: fmt.Sprintf(format, args...)}
}

func (q question) ask(ctx context.Context) answer {
	var a answer
	for range attempts {
		if a = q.try(ctx); a.err == nil {
			break
		}
	}
	return a
}

func (q question) try(ctx context.Context) answer {
	if simulation, ok := q.options.Runtime.(runtime.Readiness); ok && q.spec != q.container.LivenessProbe && !simulation.Ready(q.id) {
		return failed("the simulated container is not ready yet")
	}
	if q.spec.Exec == nil && q.options.Dial == nil {
		return answer{result: plan.Success}
	}
	switch {
	case q.spec.Exec != nil:
		return q.exec(ctx)
	case q.spec.HTTPGet != nil:
		return q.http(ctx)
	case q.spec.TCPSocket != nil:
		return q.tcp(ctx)
	case q.spec.GRPC != nil:
		return q.grpc(ctx)
	default:
		return answer{err: fmt.Errorf("missing probe handler for %s:%s", q.pod.Name, q.container.Name)}
	}
}

func (q question) timeout() time.Duration { return seconds(max(q.spec.TimeoutSeconds, 1)) }

// exec runs the command in the container. References to variables with a fixed value are expanded in it.
func (q question) exec(ctx context.Context) answer {
	var fixed []environment.Variable
	for _, variable := range q.container.Env {
		if variable.ValueFrom == nil {
			fixed = append(fixed, environment.Variable{Name: variable.Name, Value: variable.Value})
		}
	}
	command, _ := environment.Command(&v1.Container{Command: q.spec.Exec.Command}, fixed)
	response, err := q.options.Runtime.ExecSync(ctx, &runtimeapi.ExecSyncRequest{
		ContainerId: q.id, Cmd: command, Timeout: int64(max(q.spec.TimeoutSeconds, 1)),
	})
	if status.Code(err) == codes.DeadlineExceeded {
		return failed("command timed out: %q timed out after %s", strings.Join(command, " "), q.timeout())
	}
	if err != nil {
		return answer{err: err}
	}
	output := append(response.Stdout, response.Stderr...)
	if len(output) > maxOutput {
		output = output[:maxOutput]
	}
	if response.ExitCode != 0 {
		return failed("%s", output)
	}
	return answer{result: plan.Success, output: string(output)}
}

func (q question) tcp(ctx context.Context) answer {
	port, err := Port(q.spec.TCPSocket.Port, q.container)
	if err != nil {
		return answer{err: err}
	}
	host := q.spec.TCPSocket.Host
	if host == "" {
		host = q.podIP
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout())
	defer cancel()
	connection, err := q.options.Dial(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return failed("%v", err)
	}
	if err := connection.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return answer{err: err}
	}
	return answer{result: plan.Success}
}

// Port resolves a port of a container, given by number or by name.
func Port(port intstr.IntOrString, container *v1.Container) (int, error) {
	number := port.IntValue()
	if port.Type == intstr.String {
		found := false
		for _, declared := range container.Ports {
			if declared.Name == port.StrVal {
				number, found = int(declared.ContainerPort), true
			}
		}
		if parsed, err := strconv.Atoi(port.StrVal); !found && err == nil {
			number, found = parsed, true
		}
		if !found {
			return 0, fmt.Errorf("port %s not found", port.StrVal)
		}
	}
	if number <= 0 || number > 65535 {
		return 0, fmt.Errorf("invalid port number: %v", number)
	}
	return number, nil
}
