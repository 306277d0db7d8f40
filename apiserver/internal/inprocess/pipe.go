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
	buf    []byte  // what is not read yet, in room
	room   *[]byte // lent by rooms while there is something to read
	err    error   // after the writer's end: what the reader gets when the buffer is empty
	gone   bool    // the reader has closed
	cancel context.CancelFunc
}

// rooms are what pipes keep their bytes in, from the first that is written until the last is read: one that nobody writes to, such as a quiet
// watch, has none.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

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
	if p.room == nil {
		p.room = rooms.Get().(*[]byte)
		p.buf = (*p.room)[:0]
	}
	if p.buf = append(p.buf, b...); cap(p.buf) > cap(*p.room) {
		*p.room = p.buf // it has grown
	}
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
		p.giveBack()
	}
	p.change.Broadcast()
	return n, nil
}

// giveBack lets others have the room, unless a burst has made it a large one. The caller holds the lock.
func (p *pipe) giveBack() {
	if p.room != nil && cap(*p.room) <= bufferSize {
		rooms.Put(p.room)
	}
	p.buf, p.room = nil, nil
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
	p.gone = true
	p.giveBack()
	p.cancel()
	p.change.Broadcast()
}
