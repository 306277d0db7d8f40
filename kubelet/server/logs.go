package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/containerlog"
	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// containerLogs writes the log of a container. The errors of the first part are texts that kubectl shows.
func (s *Server) containerLogs(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("container")
	pod := s.options.Host.Pod(r.PathValue("namespace"), r.PathValue("pod"))
	if pod == nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", r.PathValue("pod")), http.StatusNotFound)
		return
	}
	if container, _ := podspec.Container(pod, name); container == nil {
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", name, pod.Name), http.StatusNotFound)
		return
	}
	options, previous, err := logOptions(r.URL.Query(), time.Now())
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"message": %q}`, err.Error()), http.StatusUnprocessableEntity)
		return
	}
	id, err := loggedContainer(pod, name, previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.copyLog(w, r, id, options); err != nil && r.Context().Err() == nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *Server) copyLog(w http.ResponseWriter, r *http.Request, id string, options containerlog.Options) error {
	status, err := s.options.Runtime.CRI.ContainerStatus(r.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		return fmt.Errorf("failed to get container status %q: %w", id, err)
	}
	path := status.GetStatus().GetLogPath()
	if source, ok := s.options.Runtime.CRI.(logSource); ok {
		return s.copyMemory(w, r, source, status.GetStatus(), options)
	}
	options.Running = func(ctx context.Context) (bool, error) {
		status, err := s.options.Runtime.CRI.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: id})
		if err != nil {
			return false, err
		}
		return status.GetStatus().GetState() == runtimeapi.ContainerState_CONTAINER_RUNNING, nil
	}
	// Text of whatever kind: a browser must not guess.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	out := flushing{w, http.NewResponseController(w)}
	if options.Stdout != nil {
		options.Stdout = out
	}
	if options.Stderr != nil {
		options.Stderr = out
	}
	if options.Follow {
		// The header goes out before the first line comes, which may be long.
		w.WriteHeader(http.StatusOK)
		if err := out.controller.Flush(); err != nil {
			return err
		}
	}
	return s.options.Logs.Copy(r.Context(), path, options)
}

// flushing sends every line on at once.
type flushing struct {
	io.Writer
	controller *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err != nil {
		return n, err
	}
	return n, f.controller.Flush()
}

// logOptions reads the parameters of PodLogOptions.
func logOptions(query url.Values, now time.Time) (options containerlog.Options, previous bool, err error) {
	p := parameters{query: query}
	options.Follow, previous, options.Timestamps = p.flag("follow"), p.flag("previous"), p.flag("timestamps")
	options.Tail, options.Limit = p.number("tailLines", 0), p.number("limitBytes", 1)
	if seconds := p.number("sinceSeconds", 1); seconds != nil {
		options.Since = now.Add(-time.Duration(*seconds) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			p.failures = append(p.failures, errors.New("Invalid request."))
		}
		options.Since = since
	}
	// Any writer says that a stream is wanted; the real one takes its place.
	stream := query.Get("stream")
	if stream == "" || stream == v1.LogStreamAll || stream == v1.LogStreamStdout {
		options.Stdout = io.Discard
	}
	if stream == "" || stream == v1.LogStreamAll || stream == v1.LogStreamStderr {
		options.Stderr = io.Discard
	}
	return options, previous, errors.Join(p.failures...)
}

type parameters struct {
	query    url.Values
	failures []error
}

func (p *parameters) flag(name string) bool {
	value, set := p.query[name]
	return set && (value[0] == "" || value[0] == "1" || strings.EqualFold(value[0], "true"))
}

func (p *parameters) number(name string, least int64) *int64 {
	text := p.query.Get(name)
	if text == "" {
		return nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < least {
		p.failures = append(p.failures, errors.New("Invalid request."))
		return nil
	}
	return &number
}

// loggedContainer chooses the attempt whose log is meant.
func loggedContainer(pod *v1.Pod, name string, previous bool) (string, error) {
	status := containerStatus(pod, name)
	if status == nil {
		return "", fmt.Errorf("container %q in pod %q is not available", name, pod.Name)
	}
	last := ""
	if status.LastTerminationState.Terminated != nil {
		last = status.LastTerminationState.Terminated.ContainerID
	}
	state := status.State
	switch {
	case previous && last == "":
		return "", fmt.Errorf("previous terminated container %q in pod %q not found", name, pod.Name)
	case previous:
		return bareID(last), nil
	case state.Running != nil:
		return bareID(status.ContainerID), nil
	case state.Terminated != nil && state.Terminated.ContainerID != "":
		return bareID(state.Terminated.ContainerID), nil
	case last != "":
		return bareID(last), nil
	case state.Terminated != nil || status.LastTerminationState.Terminated != nil:
		return "", fmt.Errorf("container %q in pod %q is terminated", name, pod.Name)
	case state.Waiting == nil:
		return "", fmt.Errorf("container %q in pod %q is waiting to start - no logs yet", name, pod.Name)
	}
	why := state.Waiting.Reason
	switch why {
	case "ErrImagePull":
		why = "image can't be pulled"
	case "ImagePullBackOff":
		why = "trying and failing to pull image"
	}
	return "", fmt.Errorf("container %q in pod %q is waiting to start: %v", name, pod.Name, why)
}

func containerStatus(pod *v1.Pod, name string) *v1.ContainerStatus {
	for _, list := range [][]v1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func bareID(id string) string {
	_, bare, _ := strings.Cut(id, "://")
	return bare
}
