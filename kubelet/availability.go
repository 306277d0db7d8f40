package kubelet

import (
	"log/slog"
	"sync"
)

// availability is whether the container runtime can be reached. Changes are logged once.
type availability struct {
	logger *slog.Logger

	mu    sync.Mutex
	known bool
	err   error
}

// set notes the state, and tells whether it changed.
func (a *availability) set(err error) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed = !a.known || (a.err == nil) != (err == nil)
	if changed && err != nil {
		a.logger.Warn("waiting for the container runtime", "err", err)
	} else if changed {
		a.logger.Info("connected to the container runtime")
	}
	a.known, a.err = true, err
	return changed
}

// reason is why the runtime can't be used; "" when it can.
func (a *availability) reason() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.known:
		return "container runtime status check may not have completed yet"
	case a.err != nil:
		return "container runtime is down"
	default:
		return ""
	}
}
