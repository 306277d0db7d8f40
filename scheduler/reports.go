package scheduler

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// reports are what is to be written about pods, beside the placing of others: of each pod
// one after the other, and of what comes while one is being written only the latest. It is
// safe for concurrent use.
type reports struct {
	mu   sync.Mutex
	pods map[types.UID]*pendingReport
}

type pendingReport struct {
	// next writes what came last; nil when nothing has come since.
	next func()
	// done is closed when all is written.
	done chan struct{}
}

func newReports() *reports { return &reports{pods: map[types.UID]*pendingReport{}} }

// add has something written. The result is the work to do, in a goroutine of its own; nil
// when one for this pod is at work already.
func (r *reports) add(uid types.UID, write func()) (work func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pending, ok := r.pods[uid]; ok {
		pending.next = write
		return nil
	}
	pending := &pendingReport{next: write, done: make(chan struct{})}
	r.pods[uid] = pending
	return func() {
		for write := r.take(uid, pending); write != nil; write = r.take(uid, pending) {
			write()
		}
	}
}

// take gives what is to be written now; nil when that was all.
func (r *reports) take(uid types.UID, pending *pendingReport) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	write := pending.next
	if pending.next = nil; write == nil {
		delete(r.pods, uid)
		close(pending.done)
	}
	return write
}

// settle drops what hasn't been written of a pod and waits for what is being written: what
// follows will not be overtaken.
func (r *reports) settle(uid types.UID) {
	r.mu.Lock()
	pending, ok := r.pods[uid]
	if !ok {
		r.mu.Unlock()
		return
	}
	pending.next = nil
	r.mu.Unlock()
	<-pending.done
}
