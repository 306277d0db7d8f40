package apiserver

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b busy
		b.drain(t.Context()) // nothing is being answered

		first, second := &net.TCPConn{}, &net.UnixConn{}
		b.changed(first, http.StateNew)
		b.changed(first, http.StateActive)
		b.changed(second, http.StateActive)
		drained := make(chan struct{})
		go func() {
			b.drain(t.Context())
			close(drained)
		}()
		b.changed(first, http.StateIdle)
		synctest.Wait()
		select {
		case <-drained:
			t.Fatal("drained while something is being answered")
		default:
		}
		b.changed(second, http.StateClosed)
		<-drained

		b.changed(first, http.StateActive)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b.drain(ctx)
		if ctx.Err() == nil {
			t.Error("an answer that takes long was not waited for")
		}
	})
}
