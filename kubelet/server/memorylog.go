package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/containerlog"
)

// logSource is a runtime that keeps logs in memory.
type logSource interface {
	Log(containerID string) (text []byte, found bool)
	// Ended returns a channel that is closed when the container runs no more; stop when it is not waited for.
	Ended(containerID string) (ended <-chan struct{}, stop func())
}

// copyMemory writes a log that is in no file. All of it was written to stdout when the container started; a follower
// waits for the container's end.
func (s *Server) copyMemory(w http.ResponseWriter, r *http.Request, source logSource, status *runtimeapi.ContainerStatus, options containerlog.Options) error {
	text, found := source.Log(status.GetId())
	if !found {
		return fmt.Errorf("failed to get container status %q: not found", status.GetId())
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, err := w.Write([]byte(memoryLog(string(text), time.Unix(0, status.GetStartedAt()), options))); err != nil {
		return err
	}
	if !options.Follow {
		return nil
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	ended, stop := source.Ended(status.GetId())
	defer stop()
	select {
	case <-ended:
	case <-r.Context().Done():
	}
	return nil
}

// memoryLog is what the options leave of a log that was written at one moment.
func memoryLog(text string, written time.Time, options containerlog.Options) string {
	if options.Stdout == nil || written.Before(options.Since) || text == "" {
		return ""
	}
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	if options.Tail != nil && *options.Tail < int64(len(lines)) {
		lines = lines[int64(len(lines))-*options.Tail:]
	}
	if options.Timestamps {
		for i := range lines {
			lines[i] = written.UTC().Format(time.RFC3339Nano) + " " + lines[i]
		}
	}
	left := strings.Join(lines, "")
	if options.Limit != nil && *options.Limit < int64(len(left)) {
		left = left[:*options.Limit]
	}
	return left
}
