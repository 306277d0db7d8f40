package inprocess

import (
	"context"
	"io"
	"sync"
)

// pipe is a bounded buffer between one writer and one reader.
type pipe struct {
	mu     sync.Mutex
	change sync.Cond
	buf    []byte
	err    error // after the writer's end: what the reader gets when the buffer is empty
	gone   bool  // the reader has closed
	cancel context.CancelFunc
}

func newPipe(cancel context.CancelFunc) *pipe {
	p := &pipe{cancel: cancel}
	p.change.L = &p.mu
	return p
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) >= bufferSize && !p.gone {
		p.change.Wait()
	}
	if p.gone {
		return 0, io.ErrClosedPipe
	}
	p.buf = append(p.buf, b...)
	p.change.Broadcast()
	return len(b), nil
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) == 0 && p.err == nil && !p.gone {
		p.change.Wait()
	}
	switch {
	case p.gone:
		return 0, io.ErrClosedPipe
	case len(p.buf) == 0:
		return 0, p.err
	}
	n := copy(b, p.buf)
	if p.buf = p.buf[n:]; len(p.buf) == 0 {
		p.buf = nil // let a burst's memory go
	}
	p.change.Broadcast()
	return n, nil
}

func (p *pipe) closeWriter(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	p.change.Broadcast()
}

func (p *pipe) closeReader() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone, p.buf = true, nil
	p.cancel()
	p.change.Broadcast()
}
