package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/proxy"
	translator "k8s.io/apiserver/pkg/util/proxy"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// errNoPod is the text for a pod that the node doesn't have.
var errNoPod = errors.New("pod does not exist")

// notRunningError tells of a container that can't be entered. Upstream words it differently for exec and attach.
type notRunningError struct {
	pod       *v1.Pod
	container string
}

func (e notRunningError) Error() string { return fmt.Sprintf("container not found (%q)", e.container) }

func (e notRunningError) forAttach() error {
	return fmt.Errorf("container %s not found in pod %s_%s", e.container, e.pod.Name, e.pod.Namespace)
}

// target finds the pod that a request names, and, if it names one, its container in the runtime. Only a container
// that runs is there to be entered; without one the text is that of exec.
func (s *Server) target(r *http.Request) (pod *v1.Pod, containerID string, err error) {
	pod = s.options.Host.Pod(r.PathValue("namespace"), r.PathValue("pod"))
	if uid := r.PathValue("uid"); pod == nil || uid != "" && uid != string(pod.UID) {
		return nil, "", errNoPod
	}
	name := r.PathValue("container")
	if name == "" {
		return pod, "", nil
	}
	observed, err := s.options.Runtime.Pod(r.Context(), pod.UID)
	if err != nil {
		return nil, "", err
	}
	container := observed.Newest(name)
	if container == nil || container.State != runtime.StateRunning {
		return nil, "", notRunningError{pod: pod, container: name}
	}
	return pod, container.ID, nil
}

// streams are those that a request asks for.
func streams(r *http.Request) (translator.Options, error) {
	query := r.URL.Query()
	options := translator.Options{
		Stdin: query.Get("input") == "1" || query.Get("stdin") == "true", Stdout: query.Get("output") == "1" || query.Get("stdout") == "true",
		Stderr: query.Get("error") == "1" || query.Get("stderr") == "true", Tty: query.Get("tty") == "1" || query.Get("tty") == "true",
	}
	if options.Tty && options.Stderr {
		options.Stderr = false // a terminal has one stream for both
	}
	if !options.Stdin && !options.Stdout && !options.Stderr {
		return options, errors.New("you must specify at least 1 of stdin, stdout, stderr")
	}
	return options, nil
}

func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	options, err := streams(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, id, err := s.target(r)
	if err != nil {
		refuse(w, err)
		return
	}
	response, err := s.options.Runtime.CRI.Exec(r.Context(), &runtimeapi.ExecRequest{
		ContainerId: id, Cmd: r.URL.Query()["command"],
		Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr, Tty: options.Tty,
	})
	if err != nil {
		refuse(w, err)
		return
	}
	s.stream(w, r, response.Url, options)
}

func (s *Server) attach(w http.ResponseWriter, r *http.Request) {
	options, err := streams(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod, id, err := s.target(r)
	if gone, ok := errors.AsType[notRunningError](err); ok {
		err = gone.forAttach()
	}
	if err != nil {
		refuse(w, err)
		return
	}
	// Whether there is a terminal was settled when the container started.
	container, _ := podspec.Container(pod, r.PathValue("container"))
	tty := container != nil && container.TTY
	response, err := s.options.Runtime.CRI.Attach(r.Context(), &runtimeapi.AttachRequest{
		ContainerId: id, Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr && !tty, Tty: tty,
	})
	if err != nil {
		refuse(w, err)
		return
	}
	s.stream(w, r, response.Url, options)
}

// stream joins the client and the runtime's streaming server. A WebSocket whose single streams can be closed is
// translated to SPDY; everything else the runtime speaks itself.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, address string, options translator.Options) {
	location, err := url.Parse(address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var handler http.Handler = proxy.NewUpgradeAwareHandler(location, nil, false, true, s)
	if wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		handler = translator.NewStreamTranslatorHandler(location, nil, 0, options)
	}
	handler.ServeHTTP(w, r)
}

func (s *Server) portForward(w http.ResponseWriter, r *http.Request) {
	tunneled := wsstream.IsWebSocketRequestWithTunnelingProtocol(r)
	options := &portforward.V4Options{}
	if !tunneled {
		var err error
		if options, err = portforward.NewV4Options(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	pod, _, err := s.target(r)
	if err != nil {
		refuse(w, err)
		return
	}
	observed, err := s.options.Runtime.Pod(r.Context(), pod.UID)
	if err != nil {
		refuse(w, err)
		return
	}
	if len(observed.Sandboxes) == 0 {
		http.Error(w, fmt.Sprintf("pod not found (%q)", pod.Name+"_"+pod.Namespace), http.StatusInternalServerError)
		return
	}
	response, err := s.options.Runtime.CRI.PortForward(r.Context(), &runtimeapi.PortForwardRequest{PodSandboxId: observed.Sandboxes[0].ID, Port: options.Ports})
	if err != nil {
		refuse(w, err)
		return
	}
	location, err := url.Parse(response.Url)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var handler http.Handler = proxy.NewUpgradeAwareHandler(location, nil, false, true, s)
	if tunneled {
		handler = translator.NewTunnelingHandler(handler)
	}
	handler.ServeHTTP(w, r)
}

// run runs a command to its end and answers with its output.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	_, id, err := s.target(r)
	if err != nil {
		refuse(w, err)
		return
	}
	response, err := s.options.Runtime.CRI.ExecSync(r.Context(), &runtimeapi.ExecSyncRequest{ContainerId: id, Cmd: strings.Split(r.FormValue("cmd"), " ")})
	if err != nil {
		refuse(w, err)
		return
	}
	if response.ExitCode != 0 {
		http.Error(w, fmt.Sprintf("command exited with %d: %s%s", response.ExitCode, response.Stdout, response.Stderr), http.StatusInternalServerError)
		return
	}
	s.write(w, append(response.Stdout, response.Stderr...))
}

// Error implements proxy.ErrorResponder.
func (s *Server) Error(w http.ResponseWriter, r *http.Request, err error) {
	s.options.Logger.Warn("stream", "path", r.URL.Path, "err", err)
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// refuse answers with the code that an error of the runtime stands for.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, errNoPod) || status.Code(err) == codes.NotFound:
		code = http.StatusNotFound
	case status.Code(err) == codes.ResourceExhausted:
		code = http.StatusTooManyRequests
	}
	text := err.Error()
	if s, ok := status.FromError(err); ok {
		text = s.Message()
	}
	http.Error(w, text, code)
}
