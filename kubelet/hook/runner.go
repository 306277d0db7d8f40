package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/probe"
)

// maxBody is how much of a response is read, so that the connection can end in order.
const maxBody = 10 << 10

// Runner runs handlers.
type Runner struct {
	Runtime runtimeapi.RuntimeServiceClient
	// Dial connects to pods. nil is for pods that have no network: their HTTP handlers succeed.
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Clock clock.Clock
}

// Call names the container that a handler is run for.
type Call struct {
	Pod         *v1.Pod
	Container   *v1.Container
	ContainerID string
	PodIP       string
}

// Run runs the handler. The error's text is upstream's.
func (r Runner) Run(ctx context.Context, call Call, handler *v1.LifecycleHandler) error {
	in := fmt.Sprintf("for Container %q in Pod %q failed - error", call.Container.Name, podspec.Describe(call.Pod))
	switch {
	case handler.Exec != nil:
		output, err := r.exec(ctx, call, handler.Exec.Command)
		if err != nil {
			return fmt.Errorf("Exec lifecycle hook (%v) %s: %w, message: %q", handler.Exec.Command, in, err, output)
		}
	case handler.HTTPGet != nil:
		if err := r.get(ctx, call, handler.HTTPGet); err != nil {
			return fmt.Errorf("HTTP lifecycle hook (%s) %s: %w", handler.HTTPGet.Path, in, err)
		}
	case handler.Sleep != nil:
		if err := r.pause(ctx, handler.Sleep.Seconds); err != nil {
			return fmt.Errorf("Sleep lifecycle hook (%d) %s: %w", handler.Sleep.Seconds, in, err)
		}
	default:
		return fmt.Errorf("Cannot run handler: invalid handler: %v", handler)
	}
	return nil
}

func (r Runner) exec(ctx context.Context, call Call, command []string) (string, error) {
	response, err := r.Runtime.ExecSync(ctx, &runtimeapi.ExecSyncRequest{ContainerId: call.ContainerID, Cmd: command})
	if err != nil {
		return "", err
	}
	output := string(response.Stdout) + string(response.Stderr)
	if response.ExitCode != 0 {
		return output, fmt.Errorf("command '%s' exited with %d: %s", strings.Join(command, " "), response.ExitCode, response.Stderr)
	}
	return output, nil
}

// get asks by the scheme that the handler names; one that says HTTPS and speaks HTTP is asked again in HTTP, as
// handlers of old were. Any response is a success.
func (r Runner) get(ctx context.Context, call Call, action *v1.HTTPGetAction) error {
	if r.Dial == nil {
		return nil
	}
	if action.Host == "" && call.PodIP == "" {
		return errors.New("failed to find networking container: the pod has no address")
	}
	request, err := probe.Request(ctx, action, call.Container, call.PodIP, "lifecycle")
	if err != nil {
		return err
	}
	err = r.do(request)
	if err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		again := request.Clone(ctx)
		again.URL.Scheme = "http"
		again.Header.Del("Authorization")
		return r.do(again)
	}
	return err
}

func (r Runner) do(request *http.Request) error {
	response, err := probe.Client(r.Dial).Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody))
	return errors.Join(err, response.Body.Close())
}

func (r Runner) pause(ctx context.Context, seconds int64) error {
	select {
	case <-r.Clock.After(time.Duration(seconds) * time.Second):
		return nil
	case <-ctx.Done():
		return errors.New("container terminated before sleep hook finished")
	}
}
