package simulated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	utilexec "k8s.io/client-go/util/exec"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// collectTime is how long a client has to come for the stream that it asked for.
const collectTime = 30 * time.Second

// Exec implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) Exec(_ context.Context, in *runtimeapi.ExecRequest, _ ...grpc.CallOption) (*runtimeapi.ExecResponse, error) {
	if _, err := r.running(in.ContainerId); err != nil {
		return nil, err
	}
	server, err := serveOnce(r)
	if err != nil {
		return nil, err
	}
	return server.GetExec(in)
}

// Attach implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) Attach(_ context.Context, in *runtimeapi.AttachRequest, _ ...grpc.CallOption) (*runtimeapi.AttachResponse, error) {
	if _, err := r.running(in.ContainerId); err != nil {
		return nil, err
	}
	server, err := serveOnce(r)
	if err != nil {
		return nil, err
	}
	return server.GetAttach(in)
}

// PortForward implements runtimeapi.RuntimeServiceClient: nobody listens on a simulated pod's ports.
func (r *Runtime) PortForward(context.Context, *runtimeapi.PortForwardRequest, ...grpc.CallOption) (*runtimeapi.PortForwardResponse, error) {
	return nil, status.Error(codes.Unimplemented, "nobody listens on the ports of a simulated pod")
}

// serveOnce serves streams on a loopback address to the first client that comes, and to nobody after it; so nothing
// is left running when the stream has ended or nobody came for it.
func serveOnce(r *Runtime) (streaming.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, status.Errorf(codes.Internal, "serve streams: %v", err)
	}
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/"}
	server, err := streaming.NewServer(config, streams{r})
	if err != nil {
		return nil, status.Errorf(codes.Internal, "serve streams: %v", errors.Join(err, listener.Close()))
	}
	once := &onceListener{Listener: listener}
	once.expiry = r.options.Clock.AfterFunc(collectTime, func() { go once.expire() })
	serving := &http.Server{Handler: server, ReadHeaderTimeout: collectTime}
	go func() {
		// It returns at once after the first connection, which goes on by itself.
		_ = serving.Serve(once)
	}()
	return server, nil
}

// onceListener accepts one connection.
type onceListener struct {
	net.Listener
	expiry interface{ Stop() bool }
	once   sync.Once
}

func (l *onceListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	l.expire()
	return connection, err
}

func (l *onceListener) expire() {
	l.once.Do(func() {
		if l.expiry != nil {
			l.expiry.Stop()
		}
		// There is nothing to lose in a listener that nobody listens to any more.
		_ = l.Listener.Close()
	})
}

// streams plays the part of the containers.
type streams struct{ runtime *Runtime }

func (s streams) Exec(_ context.Context, id string, args []string, in io.Reader, out, errs io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	behaviour, err := s.runtime.running(id)
	if err != nil {
		return err
	}
	command := Command{Args: args, Stdin: in, Stdout: io.Discard, Stderr: io.Discard}
	if out != nil {
		command.Stdout = out
	}
	if errs != nil {
		command.Stderr = errs
	}
	if code := behaviour.run(command); code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: int(code)}
	}
	return nil
}

// Attach shows the log and then nothing, until the client goes or the container ends.
func (s streams) Attach(ctx context.Context, id string, _ io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	log, found := s.runtime.Log(id)
	if !found {
		return missing("container", id)
	}
	if out != nil {
		if _, err := out.Write(log); err != nil {
			return err
		}
	}
	ended, stop := s.runtime.Ended(id)
	defer stop()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}

func (s streams) PortForward(context.Context, string, int32, io.ReadWriteCloser) error {
	return errors.New("nobody listens on the ports of a simulated pod")
}

// Ended returns a channel that is closed when the container runs no more, and what
// to call when nobody waits for that.
func (r *Runtime) Ended(id string) (<-chan struct{}, func()) {
	ended := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[id]
	if c == nil || c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		close(ended)
		return ended, func() {}
	}
	if c.ends == nil {
		c.ends = map[chan struct{}]struct{}{}
	}
	c.ends[ended] = struct{}{}
	return ended, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(c.ends, ended)
	}
}
