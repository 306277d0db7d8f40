package scheduler_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/scheduler"
)

// gate is a transport to a server that can't be reached while the gate is shut.
type gate struct {
	inner http.RoundTripper
	open  atomic.Bool
	// refused gets one value when somebody has been turned away.
	refused chan struct{}
}

func newGate(inner http.RoundTripper) *gate {
	return &gate{inner: inner, refused: make(chan struct{}, 1)}
}

func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	if g.open.Load() {
		return g.inner.RoundTrip(request)
	}
	select {
	case g.refused <- struct{}{}:
	default:
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// The scheduler may be started before the API server, and stopped before it comes.
func TestTheSchedulerStopsWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	shut := newGate(nil)
	s, err := scheduler.New(scheduler.Options{Config: cluster.InProcess(shut), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-shut.refused
	<-shut.refused
	cancel()
	begun := time.Now()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("took %v to stop", took)
	}
}
