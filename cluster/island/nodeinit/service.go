package nodeinit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// service is a program that must always run.
type service struct {
	name string
	// command is the program's path and its arguments.
	command []string
	// environment is what the program needs beside that of all services.
	environment []string
}

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 5 * time.Second
	// steady is how long a service must have run for its next start to come without delay.
	steady = 10 * time.Second
	// largestLog is the size in bytes at which a log is set aside when its service starts; one is kept.
	largestLog = 32 << 20
)

// pauseAfter is how long to wait before the next start of a service that ran for this long, when the wait before
// was last. The first restart comes at once: 0, 50 ms, 100 ms, … 5 s.
func pauseAfter(ran, last time.Duration) time.Duration {
	switch {
	case ran >= steady:
		return 0
	case last == 0:
		return shortestPause
	default:
		return min(2*last, longestPause)
	}
}

// keep runs a service until ctx is done, and starts it again whenever it ends.
func (r *reaper) keep(ctx context.Context, kept service, logger *slog.Logger) {
	pause := time.Duration(0)
	for ctx.Err() == nil {
		began := time.Now()
		status, err := r.runOnce(ctx, kept)
		if ctx.Err() != nil {
			return
		}
		pause = pauseAfter(time.Since(began), pause)
		logger.Warn("service ended", "service", kept.name, "after", time.Since(began).Round(time.Millisecond),
			"status", describe(status, err), "nextStartIn", pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// runOnce starts the program and waits for its end. When ctx is done, it is asked to end and no longer waited for:
// the node's first process ends next, and the kernel ends everything else.
func (r *reaper) runOnce(ctx context.Context, kept service) (unix.WaitStatus, error) {
	program, err := lookUp(kept.command[0])
	if err != nil {
		return 0, err
	}
	output, err := OpenLog(filepath.Join(logs, kept.name+".log"))
	if err != nil {
		return 0, err
	}
	defer output.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", kept.name, err)
	}
	defer null.Close()
	pid, ended, err := r.start(func() (int, error) {
		return syscall.ForkExec(program, kept.command, &syscall.ProcAttr{
			Dir: "/", Env: append(slices.Clone(environment), kept.environment...), Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", kept.name, err)
	}
	select {
	case status := <-ended:
		return status, nil
	case <-ctx.Done():
		if err := unix.Kill(pid, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
			return 0, fmt.Errorf("stop %s: %w", kept.name, err)
		}
		return 0, ctx.Err()
	}
}

// environment is that of a node's services.
var environment = []string{"PATH=" + searchPath, "HOME=/root", "LANG=C.UTF-8"}

// lookUp finds a program on the services' path, not on this process's own.
func lookUp(name string) (string, error) {
	for _, directory := range filepath.SplitList(searchPath) {
		if found, err := exec.LookPath(filepath.Join(directory, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// OpenLog opens a log to append to; one that has grown large is set aside first, in place of the one set aside before.
func OpenLog(file string) (*os.File, error) {
	if about, err := os.Stat(file); err == nil && about.Size() > largestLog {
		if err := os.Rename(file, file+".1"); err != nil {
			return nil, fmt.Errorf("set log aside: %w", err)
		}
	}
	output, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return output, nil
}

func describe(status unix.WaitStatus, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case status.Signaled():
		return "killed by signal " + status.Signal().String()
	default:
		return fmt.Sprintf("exit code %d", status.ExitStatus())
	}
}
