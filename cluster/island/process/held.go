package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Held is a running process, held by a descriptor: its number can't be given to another meanwhile.
type Held struct {
	Record Record
	handle *os.File
}

// Open takes hold of the process. It returns nil without an error when the process has ended.
func (r Record) Open() (*Held, error) {
	if r.PID <= 0 {
		return nil, nil
	}
	descriptor, err := unix.PidfdOpen(r.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", r.PID, err)
	}
	held := &Held{Record: r, handle: os.NewFile(uintptr(descriptor), fmt.Sprintf("process %d", r.PID))}
	// Only now, with the number held, is it sure whom the comparison is about.
	present, err := Of(r.PID)
	if err != nil || present != r || held.ended() {
		return nil, held.Close()
	}
	return held, nil
}

// Signal sends a signal. It is no error when the process has ended.
func (h *Held) Signal(signal unix.Signal) error {
	err := h.control(func(descriptor int) error {
		return unix.PidfdSendSignal(descriptor, signal, nil, 0)
	})
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", h.Record.PID, err)
	}
	return nil
}

// Wait blocks until the process has ended or ctx is done; in the latter case it returns ctx's error. The process
// need not be a child, and is not reaped.
func (h *Held) Wait(ctx context.Context) error {
	if err := h.handle.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("wait for process %d: %w", h.Record.PID, err)
	}
	stop := context.AfterFunc(ctx, func() {
		// Ends the wait below; when it can't be set, Wait goes on until the process ends.
		_ = h.handle.SetReadDeadline(time.Unix(1, 0))
	})
	defer stop()
	raw, err := h.handle.SyscallConn()
	if err != nil {
		return fmt.Errorf("wait for process %d: %w", h.Record.PID, err)
	}
	err = raw.Read(func(descriptor uintptr) bool { return readable(int(descriptor)) })
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("wait for process %d: %w", h.Record.PID, err)
	}
	return nil
}

// Close lets go of the process, which runs on.
func (h *Held) Close() error { return h.handle.Close() }

func (h *Held) ended() bool {
	ended := false
	err := h.control(func(descriptor int) error {
		ended = readable(descriptor)
		return nil
	})
	return err == nil && ended
}

func (h *Held) control(act func(descriptor int) error) error {
	raw, err := h.handle.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(descriptor uintptr) { inner = act(int(descriptor)) }); err != nil {
		return err
	}
	return inner
}

// readable asks whether a process descriptor has become readable, which it does when its process ends.
func readable(descriptor int) bool {
	polled := []unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}
	count, err := unix.Poll(polled, 0)
	return err == nil && count > 0
}
