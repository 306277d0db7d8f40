package runtime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The most that a termination message may hold (upstream's MaxContainerTerminationMessage…): bytes of the file, and
// bytes and lines of the log when that is fallen back to.
const (
	maxTerminationMessageBytes = 4096
	maxTerminationLogBytes     = 2048
	maxTerminationLogLines     = 80
)

// terminationMessage is the runtime's own message, followed by what the container left in its termination file, or,
// when its policy says so, by the end of its log.
func terminationMessage(s *runtimeapi.ContainerStatus, saved Saved) string {
	// A container that could not be started has no log to fall back to.
	fallBack := saved.TerminationMessagePolicy == v1.TerminationMessageFallbackToLogsOnError &&
		s.ExitCode != 0 && s.Reason != "ContainerCannotRun"
	left, found := terminationFile(s.Mounts, saved.TerminationMessagePath)
	if !found && fallBack {
		left = logTail(s.LogPath)
	}
	if left == "" {
		return s.Message
	}
	if s.Message == "" {
		return left
	}
	return s.Message + ": " + left
}

// terminationFile reads the file that is mounted at the termination message path. Not found covers an empty one.
func terminationFile(mounts []*runtimeapi.Mount, path string) (message string, found bool) {
	if path == "" {
		return "", false
	}
	for _, mount := range mounts {
		if mount.ContainerPath != path {
			continue
		}
		data, err := readEnd(mount.HostPath, maxTerminationMessageBytes)
		if errors.Is(err, fs.ErrNotExist) {
			return "", false
		}
		if err != nil {
			return fmt.Sprintf("Error on reading termination log %s: %v", mount.HostPath, err), true
		}
		return string(data), len(data) > 0
	}
	return "", false
}

// logTail returns the last lines that the container wrote, from a log in CRI format.
func logTail(path string) string {
	// Each line carries its time, stream and tag in front, so more of the file is read than is kept.
	data, err := readEnd(path, maxTerminationLogBytes*8)
	if err != nil {
		return fmt.Sprintf("Error on reading termination message from logs: %v", err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	if len(lines) > maxTerminationLogLines+1 {
		lines = lines[len(lines)-maxTerminationLogLines-1:]
	}
	var tail strings.Builder
	for _, line := range lines {
		// time, stream, tag, content; a first line that was cut in the middle is dropped
		fields := strings.SplitN(line, " ", 4)
		if len(fields) < 4 || (fields[1] != "stdout" && fields[1] != "stderr") {
			continue
		}
		content := fields[3]
		if fields[2] == "P" {
			content = strings.TrimSuffix(content, "\n")
		}
		tail.WriteString(content)
	}
	text := tail.String()
	if len(text) > maxTerminationLogBytes {
		text = text[len(text)-maxTerminationLogBytes:]
	}
	return text
}

func readEnd(path string, limit int64) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if start := info.Size() - limit; start > 0 {
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
