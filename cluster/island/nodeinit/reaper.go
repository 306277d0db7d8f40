package nodeinit

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// reaper takes the exit statuses of all children of this process: those it started, and the orphans that the
// kernel hands to the first process of a namespace.
type reaper struct {
	mutex sync.Mutex
	// awaited has a channel for each child that was started here and has not been reaped.
	awaited map[int]chan unix.WaitStatus
}

func newReaper() *reaper { return &reaper{awaited: map[int]chan unix.WaitStatus{}} }

// start calls fork, which returns a new child's number, and returns a channel on which the child's status comes.
// The lock is held meanwhile: a child that ends at once must not be reaped before it is known.
func (r *reaper) start(fork func() (int, error)) (int, <-chan unix.WaitStatus, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	pid, err := fork()
	if err != nil {
		return 0, nil, err
	}
	status := make(chan unix.WaitStatus, 1)
	r.awaited[pid] = status
	return pid, status, nil
}

// run reaps until ctx is done.
func (r *reaper) run(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCHLD)
	defer signal.Stop(signals)
	for {
		// Before the first signal too: a child may have ended already.
		r.reap()
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
	}
}

// reap takes all statuses there are: one signal may stand for several children.
func (r *reaper) reap() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		// Without children the error is ECHILD; 0 means that those there are still run.
		if err != nil || pid <= 0 {
			return
		}
		if awaited := r.awaited[pid]; awaited != nil {
			delete(r.awaited, pid)
			awaited <- status
		}
	}
}
