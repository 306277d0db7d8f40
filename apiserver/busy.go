package apiserver

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// busy knows the connections of a listener on which something is being answered, so that its end need not wait for clients that
// keep connections open without asking anything.
type busy struct {
	mu          sync.Mutex
	connections map[net.Conn]struct{}
	idle        chan struct{} // closed when none is left; nil: nobody waits
}

// changed is an http.Server's ConnState.
func (b *busy) changed(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state == http.StateActive {
		if b.connections == nil {
			b.connections = map[net.Conn]struct{}{}
		}
		b.connections[c] = struct{}{}
		return
	}
	delete(b.connections, c)
	if len(b.connections) == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// drain waits until all is answered, or ctx ends.
func (b *busy) drain(ctx context.Context) {
	b.mu.Lock()
	if len(b.connections) == 0 {
		b.mu.Unlock()
		return
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	idle := b.idle
	b.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
