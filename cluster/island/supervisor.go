package island

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
	"github.com/kogge-dev/kogge/cluster/island/process"
)

const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 10 * time.Second
	// steady is how long a unit must have run for its next start to come without delay.
	steady = 10 * time.Second
	// grace is how long a graceful unit may take to end.
	grace = 5 * time.Second
)

// supervisorName is the name of the supervisor's own process record and log.
const supervisorName = "supervisor"

// errSupervised says that another supervisor has the cluster.
var errSupervised = errors.New("another supervisor runs already")

// Supervise keeps the cluster's server and nodes running until ctx is done, and then ends them. Those that a
// supervisor before this one started are taken over as they are. There is one at a time for each cluster.
func Supervise(ctx context.Context, directory Directory, logger *slog.Logger) error {
	spec, err := directory.Spec()
	if err != nil {
		return err
	}
	unlock, err := lock(directory)
	if err != nil {
		return err
	}
	defer unlock()
	own, err := process.Of(os.Getpid())
	if err != nil {
		return err
	}
	if err := process.Save(directory.recordFile(supervisorName), own); err != nil {
		return err
	}
	units := []unit{serverUnit(directory, spec)}
	if spec.Containers() {
		nodes, err := nodeUnits(directory, spec)
		if err != nil {
			return err
		}
		units = append(units, nodes...)
	}
	var group sync.WaitGroup
	for _, kept := range units {
		group.Go(func() { keep(ctx, directory, kept, logger.With("unit", kept.name)) })
	}
	group.Wait()
	return nil
}

// nodeUnits are the node containers, with the network and the cgroups that they need.
func nodeUnits(directory Directory, spec Spec) ([]unit, error) {
	namespace, err := ensureNetwork(directory)
	if err != nil {
		return nil, err
	}
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return nil, err
	}
	var units []unit
	for _, node := range spec.NodeList() {
		units = append(units, nodeUnit(directory, spec, node, namespace, hierarchies))
	}
	return units, nil
}

// lock takes the cluster's lock, which lasts until unlock is called or the process ends in whatever way.
func lock(directory Directory) (unlock func(), err error) {
	file, err := os.OpenFile(directory.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the cluster's lock: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errSupervised
		}
		return nil, fmt.Errorf("lock the cluster: %w", err)
	}
	return func() { file.Close() }, nil
}

// keep runs one unit until ctx is done, and ends it then.
func keep(ctx context.Context, directory Directory, kept unit, logger *slog.Logger) {
	pause := time.Duration(0)
	for ctx.Err() == nil {
		began := time.Now()
		err := runOnce(ctx, directory, kept, logger)
		if ctx.Err() != nil {
			if err != nil {
				logger.Error("unit did not end well", "error", err)
			}
			return
		}
		pause = pauseAfter(time.Since(began), pause)
		logger.Warn("unit ended", "after", time.Since(began).Round(time.Millisecond), "error", err, "nextStartIn", pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// pauseAfter is how long to wait before the next start of a unit that ran for this long, when the wait before was
// last. One that was steady comes back at once; others after 100 ms, 200 ms, … 10 s.
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

// runOnce takes the unit's running process over, or starts one, and waits for its end. When ctx is done, the
// process is ended.
func runOnce(ctx context.Context, directory Directory, kept unit, logger *slog.Logger) error {
	file := directory.recordFile(kept.name)
	record, err := process.Load(file)
	if err != nil {
		return err
	}
	held, err := record.Open()
	if err != nil {
		return err
	}
	if held == nil {
		if held, err = startUnit(ctx, file, kept); err != nil {
			return err
		}
		logger.Info("unit started", "pid", held.Record.PID)
	} else {
		logger.Info("unit taken over", "pid", held.Record.PID)
	}
	err = held.Wait(ctx)
	if ctx.Err() != nil {
		err = end(held, kept.graceful)
	}
	return errors.Join(err, held.Close())
}

// startUnit starts the unit, records it, and has its exit status reaped when it comes.
func startUnit(ctx context.Context, file string, kept unit) (*process.Held, error) {
	started, err := kept.start(ctx)
	if started != nil {
		go func() {
			// How it ended stands in its own log; here it only must not stay a zombie.
			_, _ = started.Wait()
		}()
	}
	if err != nil {
		if started != nil {
			err = errors.Join(err, started.Kill())
		}
		return nil, err
	}
	record, err := process.Of(started.Pid)
	if err != nil {
		return nil, err
	}
	held, err := record.Open()
	if err != nil {
		return nil, err
	}
	if held == nil {
		return nil, errors.New("ended as soon as it was started: see its log")
	}
	return held, process.Save(file, record)
}

// end makes the process end and waits until it has.
func end(held *process.Held, graceful bool) error {
	if graceful {
		if err := held.Signal(unix.SIGTERM); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		err := held.Wait(ctx)
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	if err := held.Signal(unix.SIGKILL); err != nil {
		return err
	}
	return held.Wait(context.Background())
}
