package inprocess

import "time"

// linger is how long a goroutine waits for another request before it ends.
const linger = 100 * time.Millisecond

// Workers are goroutines that handle one request after another. A goroutine begins with a small stack, which is copied several times
// until a handler has room on it: under load that is a twentieth of what a request costs.
type Workers struct{ spare chan func() }

// NewWorkers makes workers, of which there are none until they are needed.
func NewWorkers() *Workers { return &Workers{make(chan func())} }

// run has f run by one that is free, or by a new one. Nil workers are always new.
func (w *Workers) run(f func()) {
	if w == nil {
		go f()
		return
	}
	select {
	case w.spare <- f:
	default:
		go w.work(f)
	}
}

func (w *Workers) work(f func()) {
	idle := time.NewTimer(linger)
	defer idle.Stop()
	for {
		f()
		idle.Reset(linger)
		select {
		case f = <-w.spare:
		case <-idle.C:
			return
		}
	}
}
